// Runs in a page of the site: drives the searches, and watches the search box.

// Material's worker and ours hear the same messages.
const SETUP = 0, QUERY = 2

function ask(worker, type, data) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data: message }) => resolve(message.data)
    worker.onerror = reject
    worker.postMessage({ type, data })
  })
}

async function timed(run) {
  const started = performance.now()
  const answer = await run()
  return [answer, performance.now() - started]
}

/** Start a worker with its index, and ask it everything: pages found, milliseconds taken. */
async function askWorker({ script, index, queries }) {
  const { config, docs } = await (await fetch(index)).json()
  const [worker, setUp] = await timed(async () => {
    const started = new Worker(script)
    await ask(started, SETUP, { config, docs, options: { suggest: false } })
    return started
  })
  const found = [], milliseconds = []
  for (const query of queries) {
    const [{ items }, taken] = await timed(() => ask(worker, QUERY, query))
    found.push(items.map(([section]) => section.location))
    milliseconds.push(taken)
  }
  worker.terminate()
  return { found, milliseconds, setUp }
}

/** Ask pagefind everything; it loads something for each page that it shows. */
async function askPagefind({ script, queries, shown }) {
  const pagefind = await import(script)
  await pagefind.init()
  const found = []
  for (const query of queries) {
    const { results } = await pagefind.search(query)
    const pages = await Promise.all(results.slice(0, shown).map(result => result.data()))
    found.push(pages.map(page => page.url))
  }
  return { found }
}

/** Note in window.painted how long after a change of the box its result was painted. */
function watchBox() {
  let changed  // the first change that is not answered yet
  window.painted = []
  addEventListener("input", event => { changed ??= event.timeStamp }, { capture: true })
  const afterPaint = run => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = run
    port2.postMessage(null)
  })
  const observer = new MutationObserver(() => {
    const since = changed
    changed = undefined
    if (since !== undefined) afterPaint(() => painted.push(performance.now() - since))
  })
  observer.observe(document.querySelector(".md-search-result"), { childList: true, subtree: true })
}
