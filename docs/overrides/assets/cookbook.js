/* What Material does not do by itself. Loaded before its bundle. */

// Material moves the sitemap's addresses to this host, but neither to this port
// nor to this path. The first entry is the site's home: replace what it stands
// for by where the site really is, so that instant navigation works anywhere.
const parse = DOMParser.prototype.parseFromString
DOMParser.prototype.parseFromString = function (text, type) {
  const parsed = parse.call(this, text, type)
  if (type === "text/xml") {
    const base = new URL(JSON.parse(document.getElementById("__config").textContent).base, location)
    const entries = parsed.querySelectorAll("loc")
    const home = entries.length ? entries[0].textContent : ""
    for (const entry of entries)
      entry.textContent = base + entry.textContent.slice(home.length)
  }
  return parsed
}

// Material fetches the search index with every page. Hold it until the reader
// turns to the search box.
let wanted
const searchWanted = new Promise(resolve => { wanted = resolve })
const open = XMLHttpRequest.prototype.open, send = XMLHttpRequest.prototype.send
XMLHttpRequest.prototype.open = function (method, url, ...rest) {
  this.waits = String(url).endsWith("search/search_index.json")
  return open.call(this, method, url, ...rest)
}
XMLHttpRequest.prototype.send = function (...body) {
  if (this.waits) searchWanted.then(() => send.apply(this, body))
  else send.apply(this, body)
}
function wantSearch(event) {
  if (event.target.closest?.(".md-search, [for=__search], [data-open-search]")) wanted()
}
for (const event of ["focusin", "pointerover", "touchstart"])
  document.addEventListener(event, wantSearch, { passive: true })
if (new URLSearchParams(location.search).has("q")) wanted()

// A link to the twin page keeps the reader's place on the page.
function followTwin(event) {
  const link = event.target.closest?.("a[data-twin]")
  if (link) link.hash = location.hash
}

// A result that shows an error message leads to where the page explains it.
function followError(event) {
  const link = event.target.closest?.(".md-search-result__link")
  const line = link?.querySelector("[data-anchor]")
  if (line) link.hash = line.dataset.anchor
}

// Instant navigation replaces the page but not the header.
function updateTwin() {
  const config = JSON.parse(document.getElementById("__config").textContent)
  const base = new URL(config.base, location).pathname
  const page = location.pathname.slice(base.length)
  for (const link of document.querySelectorAll("a[data-twin]"))
    if (base.match(/\/(en|zh)\/$/))
      link.href = base.replace(/(en|zh)\/$/, link.hreflang + "/") + page
}

// Material's search box hears keys only, not a paste by mouse or an input method.
function searchOnInput(event) {
  if (event.target.matches?.(".md-search__input") && !event.isComposing)
    event.target.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }))
}

// Where nothing is found: the nearest categories, and where to ask for a recipe.
const wantedForm = document.currentScript.dataset.wanted
const NOTHING = {
  en: { near: "Perhaps in", ask: "Ask for a recipe" },
  zh: { near: "可以看看：", ask: "提议新条目" },
}
class HelpfulWorker extends Worker {
  constructor(...args) {
    super(...args)
    this.addEventListener("message", ({ data: message }) => {
      if (message.data?.items) showNearest(message.data.nearest ?? [])
    })
  }
}
window.Worker = HelpfulWorker

function showNearest(nearest) {
  const box = document.querySelector(".md-search-result")
  box.querySelector(".search-help")?.remove()
  if (nearest.length === 0 || !document.querySelector(".md-search__input").value.trim()) return
  const words = NOTHING[document.documentElement.lang.slice(0, 2)] ?? NOTHING.en
  const { base } = JSON.parse(document.getElementById("__config").textContent)
  const link = ({ title, location: page }) =>
    Object.assign(document.createElement("a"), { href: new URL(page, new URL(`${base}/`, location)), textContent: title })
  const help = Object.assign(document.createElement("p"), { className: "search-help" })
  help.append(`${words.near} `, ...nearest.flatMap((category, i) => i ? [" · ", link(category)] : [link(category)]))
  if (wantedForm) help.append(document.createElement("br"), link({ title: words.ask, location: wantedForm }))
  box.append(help)
}

// The address names the query while the box is open, so that it can be shared.
function shareQuery() {
  const query = document.querySelector(".md-search__input")?.value.trim()
  const open = document.getElementById("__search")?.checked
  const url = new URL(location)
  if (query && open && query.length <= SHARED) url.searchParams.set("q", query)
  else url.searchParams.delete("q")
  if (url.href !== location.href) history.replaceState(history.state, "", url)
}
const SHARED = 500 // characters; a longer paste does not belong into an address

function openSearch(event) {
  if (event.target.closest?.("[data-open-search]"))
    document.querySelector(".md-search__input").focus()
}

// Material focuses the box on "/" already.
function searchOnCtrlK(event) {
  if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    document.querySelector(".md-search__input")?.focus()
  }
}

document.addEventListener("keydown", searchOnCtrlK)
document.addEventListener("click", followTwin)
document.addEventListener("click", followError, { capture: true })
document.addEventListener("click", openSearch)
document.addEventListener("input", searchOnInput)
document.addEventListener("compositionend", searchOnInput)
for (const event of ["input", "focusin", "change"]) document.addEventListener(event, shareQuery)
// Material gives these two a role but no name.
function nameLandmarks() {
  const search = document.querySelector(".md-search")
  search?.setAttribute("aria-label", search.querySelector("input").ariaLabel)
  document.querySelector(".md-progress")?.setAttribute("aria-label", document.title)
}

// Two things to copy: the answer, and the file; each button says which.
const COPY = {
  en: { answer: "Copy the answer", file: "Copy", other: "Copy the block" },
  zh: { answer: "复制答案", file: "复制", other: "复制这段" },
}
function nameCopyButtons() {
  const words = COPY[document.documentElement.lang.slice(0, 2)] ?? COPY.en
  for (const button of document.querySelectorAll(".md-code__button[data-md-type=copy]")) {
    const file = button.closest(".highlight")?.querySelector(".filename")?.textContent
    const name = button.closest(".answer") ? words.answer : file ? `${words.file} ${file}` : words.other
    button.title = name
    button.ariaLabel = name
  }
}

document.addEventListener("DOMContentLoaded", () => {
  nameLandmarks()
  window.document$?.subscribe(updateTwin)
  // Material adds the buttons after it has shown a page.
  new MutationObserver(nameCopyButtons).observe(document.body, { childList: true, subtree: true })
})
