// Runs the site's search worker outside a browser, through the messages that the
// browser would send. Reads {worker, index, queries}; writes an answer per query.
import { readFileSync } from "node:fs"
import { createContext, runInContext } from "node:vm"

const SETUP = 0, QUERY = 2
const { worker, index, queries } = JSON.parse(readFileSync(0, "utf8"))
let hear, answer
const context = createContext({
  addEventListener: (_, listener) => { hear = listener },
  postMessage: message => { answer = message },
})
runInContext(readFileSync(worker, "utf8"), context, { filename: worker })

function ask(type, data) {
  hear({ data: { type, data } })
  return answer.data
}

ask(SETUP, index)
console.log(JSON.stringify(queries.map(query => ask(QUERY, query))))
