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

// A link to the twin page keeps the reader's place on the page, and what is asked.
function followTwin(event) {
  const link = event.target.closest?.("a[data-twin]")
  if (!link) return
  link.hash = location.hash
  link.search = asked() ? `?${new URLSearchParams({ q: asked() })}` : ""
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

// Where no recipe fits: the box says so first, and where to ask for one.
const wantedForm = document.currentScript.dataset.wanted
const NONE = {
  en: { none: "No recipe for this yet", wanted: "wanted", ask: "Ask for it", near: "The nearest:" },
  zh: { none: "还没有这个条目", wanted: "待补充", ask: "提议这个条目", near: "最接近的：" },
}
class HelpfulWorker extends Worker {
  constructor(...args) {
    super(...args)
    this.addEventListener("message", ({ data: message }) => {
      if (message.data?.items) showNone(message.data)
    })
  }
}
window.Worker = HelpfulWorker

function showNone({ none, topic, nearest }) {
  const box = document.querySelector(".md-search-result")
  box.querySelector(".search-none")?.remove()
  if (!none) return
  const words = NONE[document.documentElement.lang.slice(0, 2)] ?? NONE.en
  const { base } = JSON.parse(document.getElementById("__config").textContent)
  const link = ({ title, location: page }) =>
    Object.assign(document.createElement("a"), { href: new URL(page, new URL(`${base}/`, location)), textContent: title })
  const said = Object.assign(document.createElement("div"), { className: "search-none", role: "status" })
  const line = (...parts) => {
    const paragraph = document.createElement("p")
    paragraph.append(...parts)
    said.append(paragraph)
  }
  const strong = Object.assign(document.createElement("strong"), { textContent: words.none })
  const form = wantedForm && `${wantedForm}&${new URLSearchParams({ title: `[${words.wanted}] ${topic || asked()}`, searched: asked() })}`
  line(strong, topic ? ` (${topic})` : "", ...form ? [" · ", link({ title: words.ask, location: form })] : [])
  line(`${words.near} `, ...nearest.flatMap((category, i) => i ? [" · ", link(category)] : [link(category)]))
  box.prepend(said)
}

// The address names the query while the box is open, so that it can be shared.
function shareQuery(event) {
  if (event.type === "input") leaving = false
  if (leaving) return
  const url = new URL(location)
  if (asked()) url.searchParams.set("q", asked())
  else url.searchParams.delete("q")
  if (url.href !== location.href) history.replaceState(history.state, "", url)
}
const SHARED = 500 // characters; a longer paste does not belong into an address

/** The query in the open box, if an address can hold it. */
function asked() {
  const query = document.querySelector(".md-search__input")?.value.trim() ?? ""
  return document.getElementById("__search")?.checked && query.length <= SHARED ? query : ""
}

// Who follows a result comes back to the results: their address keeps the query.
let leaving = false
function leaveResults(event) {
  if (!event.target.closest?.(".md-search-result__link")) return
  leaving = true
  // Material drops the query from this address as it closes the box: not here.
  history.replaceState = () => {}
  setTimeout(() => { delete history.replaceState })
}
function reopenResults() {
  const query = new URLSearchParams(location.search).get("q")
  leaving = false
  if (query) setTimeout(openResults, 150, query) // Material closes the box 125 ms after a page is shown
}
function openResults(query) {
  const box = document.querySelector(".md-search__input"), toggle = document.getElementById("__search")
  if (box.value === query && toggle.checked) return
  box.value = query
  box.focus()
  if (!toggle.checked) toggle.click()
  box.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }))
}

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
document.addEventListener("click", leaveResults, { capture: true })
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

// Who wants long lines wrapped wants it on every page.
function keepWrapping() {
  const box = document.querySelector(".wrap input")
  if (!box) return
  box.checked = localStorage.getItem("wrap") === "true"
  box.onchange = () => localStorage.setItem("wrap", box.checked)
}

document.addEventListener("DOMContentLoaded", () => {
  nameLandmarks()
  window.document$?.subscribe(updateTwin)
  window.document$?.subscribe(reopenResults)
  window.document$?.subscribe(keepWrapping)
  // Material adds the buttons after it has shown a page.
  new MutationObserver(nameCopyButtons).observe(document.body, { childList: true, subtree: true })
})
