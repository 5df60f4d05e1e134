"""The search worker outside of a browser: QuickJS runs it, on the messages of its page.

It imports nothing of the cookbook: the wheel takes this file as it is.
"""

import json
from collections.abc import Callable

import quickjs

# What the worker takes from a browser.
BROWSER = """
const location = "", URL = class {}
const shell = {}  // what is said to and fro
const fetch = async () => ({ json: async () => JSON.parse(otherIndex()) })
const addEventListener = (_, listener) => { shell.hear = listener }
const postMessage = message => { shell.answer = message.data }
// What an index has added up, to be had again in a tenth of the time.
const SUMS = ["lengths", "meanLength", "phrases"]
// Postings as steps from one recipe to the next, and apart the weights, pack best.
const saved = () => {
  const terms = index.vocabulary, postings = terms.map(term => index.postings.get(term))
  const numbers = postings.map(posting => posting.filter((_, i) => i % 2 === 0))
  return JSON.stringify({
    sums: Object.fromEntries(SUMS.map(name => [name, index[name]])),
    terms,
    steps: numbers.map(row => row.map((n, i) => n - (row[i - 1] ?? 0))),
    weights: postings.map(posting => posting.filter((_, i) => i % 2)),
    known: [...known.keys()],
  }, (_, value) => typeof value === "number" ? +value.toFixed(6) : value)
}
const restore = ({ sums, terms, steps, weights, known: named }) => {
  const postings = terms.map((term, k) => {
    let n = 0
    return [term, steps[k].flatMap((step, i) => [n += step, weights[k][i]])]
  })
  const { add } = Index.prototype
  const { get: spelt } = Object.getOwnPropertyDescriptor(Index.prototype, "spelt")
  Index.prototype.add = function () {
    Object.assign(this, sums, { postings: new Map(postings), sorted: terms })
    Index.prototype.add = add
  }
  // All spellings are read when a word is met that nobody has written.
  Object.defineProperty(Index.prototype, "spelt", { get() {
    named.splice(0).forEach(words)
    return spelt.call(this)
  } })
}
const send = (type, text) => { shell.hear({ data: { type, data: JSON.parse(text) } }) }
"""
SETUP, QUERY = 0, 2


def started(
    script: str, index: dict, foreign: Callable[[], dict], state: str = ""
) -> quickjs.Context:
    """The worker on a language's index; ``foreign`` gives the other's, if asked for.

    ``state`` is what ``saved`` gave for the same index.
    """
    worker = quickjs.Context()
    worker.add_callable("otherIndex", lambda: json.dumps(foreign()))
    worker.eval(BROWSER + script)
    if state:
        worker.set("state", worker.parse_json(state))
        worker.eval("restore(state)")
    _send(worker, SETUP, index)
    return worker


def saved(worker: quickjs.Context) -> str:
    """What its index has added up."""
    return worker.eval("saved()")


def ask(worker: quickjs.Context, query: str) -> dict:
    """What the worker answers: ``{"items", "none", "topic", "nearest"}``.

    Raises:
        quickjs.JSException: the worker failed.
    """
    return _send(worker, QUERY, query)


def _send(worker: quickjs.Context, kind: int, data: dict | str) -> dict:
    worker.eval(f"send({kind}, {json.dumps(json.dumps(data))})")
    while worker.execute_pending_job():
        pass
    return json.loads(worker.eval("JSON.stringify(shell.answer ?? null)"))


def slugs(answer: dict) -> list[str]:
    """The slugs of an answer's recipes, best first."""
    return [item[0]["location"].split("/")[-2] for item in answer["items"]]
