// Runs the site's search worker outside a browser, through the messages that the
// browser would send. Reads {worker, index, foreign, queries}; writes an answer
// per query.
import { readFileSync } from "node:fs"
import { createContext, runInContext } from "node:vm"

const SETUP = 0, QUERY = 2
const { worker, index, foreign, queries } = JSON.parse(readFileSync(0, "utf8"))
let hear, answer
const context = createContext({
  URL,
  location: "file:///assets/search.js",
  fetch: async () => ({ json: async () => foreign }),
  addEventListener: (_, listener) => { hear = listener },
  postMessage: message => { answer = message },
})
runInContext(readFileSync(worker, "utf8"), context, { filename: worker })

async function ask(type, data) {
  await hear({ data: { type, data } })
  return answer.data
}

await ask(SETUP, index)
const answers = []
for (const query of queries) answers.push(await ask(QUERY, query))
console.log(JSON.stringify(answers))
