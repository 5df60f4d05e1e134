/* What Material does not do by itself. Loaded before its bundle. */

const base = new URL("..", document.currentScript.src)
const { wanted: wantedForm, words: said } = document.currentScript.dataset
const words = JSON.parse(said || "{}")

// Material fetches the search index and the sitemap with every page. Hold the index
// until the reader turns to the search box, and the sitemap until they do anything:
// instant navigation needs it for a link. The sitemaps that it takes the twins to
// have are not there.
let wanted
const searchWanted = new Promise(resolve => { wanted = resolve })
const active = new Promise(resolve => {
  for (const event of ["pointerover", "touchstart", "keydown"])
    document.addEventListener(event, resolve, { once: true, passive: true })
})

/** A sitemap of where the site really is: Material moves its addresses to this host, but
    neither to this port nor to this path. Its first entry is the site's home. */
async function ownSitemap() {
  await active
  const text = await (await fetch(new URL("sitemap.xml", base))).text()
  const home = text.match(/<loc>(.*?)<\/loc>/)?.[1] ?? base
  return URL.createObjectURL(new Blob([text.replaceAll(home, base)]))
}

window.XMLHttpRequest = class extends XMLHttpRequest {
  open(method, url, ...rest) {
    const { href } = new URL(url, base)
    if (href.endsWith("search/search_index.json")) this.until = () => searchWanted
    if (href.endsWith("sitemap.xml"))
      this.until = href === `${base}sitemap.xml` ? ownSitemap : () => new Promise(() => {})
    super.open(method, url, ...rest)
  }
  async send(...body) {
    const instead = await this.until?.()
    if (instead) super.open("GET", instead)
    super.send(...body)
  }
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
  localStorage.setItem("lang", link.hreflang) // the landing page opens in it
}

// On a phone Material holds the page while its box is open, and puts it back to where
// it was when the box has closed; and it forgets the place on a page that comes late.
// So go there when both are over: the result's page is shown, and the box is closed.
let landing, shown
function land() {
  if (landing !== shown || document.body.hasAttribute("data-md-scrolllock")) return
  landing = undefined
  const place = document.getElementById(location.hash.slice(1)) ?? document.body
  place.scrollIntoView()
}

// Instant navigation replaces the page but not the header.
function updateTwin() {
  const page = location.pathname.slice(base.pathname.length)
  for (const link of document.querySelectorAll("a[data-twin]"))
    link.href = base.pathname.replace(/(en|zh)\/$/, link.hreflang + "/") + page
}

// Material's search box hears keys only, not a paste by mouse or an input method.
// The home page's box hands on what it is given, to where the results are.
function searchOnInput({ target, isComposing }) {
  if (isComposing) return
  if (target.matches?.(".md-search__input"))
    target.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }))
  if (target.matches?.("[data-open-search]") && target.value) {
    openResults(target.value)
    target.value = ""
  }
}

// What an input method has not committed yet is no query.
function waitForInputMethod(event) {
  if (event.isComposing) event.stopPropagation()
}

// Material turns pages on a bare letter: too easily pressed by mistake.
function ignoreLetters(event) {
  if ("npsf,.".includes(event.key) && !event.target.closest?.(".md-search")) event.stopPropagation()
}

// Who leaves the box by Escape comes back to where they were.
let opener
function rememberOpener({ target, relatedTarget }) {
  if (target.matches?.(".md-search__input") && !relatedTarget?.closest(".md-search")) opener = relatedTarget
}
function returnFocus(event) {
  if (event.key === "Escape" && event.target.closest?.(".md-search"))
    (opener ?? document.querySelector(".md-logo")).focus()
}

// Where no recipe fits: the box says so first, and where to ask for one.
window.Worker = class extends Worker {
  constructor(...args) {
    super(...args)
    this.addEventListener("message", event => {
      const found = event.data.data
      if (!found?.items) return
      // All of the index is there now, but the reader has gone to a result already.
      if (document.activeElement?.matches(".md-search-result__link")) event.stopImmediatePropagation()
      else showNone(found)
    })
  }
}

/** A new element with these properties and children. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}
function showNone({ none, topic, nearest }) {
  const box = document.querySelector(".md-search-result")
  box.querySelector(".search-none")?.remove()
  if (!none) return
  const link = ({ title, location: page }) => make("a", { href: new URL(page, base) }, title)
  const form = wantedForm && `${wantedForm}&${new URLSearchParams({ title: `[${words.wanted}] ${topic || asked()}`, searched: asked() })}`
  const ask = form ? [" · ", link({ title: words.ask, location: form })] : []
  const near = nearest.flatMap((category, i) => [i ? " · " : "", link(category)])
  box.prepend(make("div", { className: "search-none", role: "status" },
    make("p", {}, make("strong", {}, words.none), topic ? ` (${topic})` : "", ...ask),
    make("p", {}, `${words.nearest} `, ...near)))
}

// The address names the query while the box is open, so that it can be shared.
function shareQuery(event) {
  if (event.isComposing) return
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
// A result that shows an error message leads to where the page explains it.
let leaving = false
function leaveResults(event) {
  const link = event.target.closest?.(".md-search-result__link")
  if (!link) return
  const line = link.querySelector("[data-anchor]")
  if (line) link.hash = line.dataset.anchor
  leaving = true
  landing = link.pathname
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
  if (!box || box.value === query && toggle.checked) return
  box.value = query
  box.focus()
  if (!toggle.checked) toggle.click()
  box.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }))
}

// Material focuses the box on "/" already.
function searchOnCtrlK(event) {
  if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    document.querySelector(".md-search__input")?.focus()
  }
}

// A place on this page is the browser's to go to: Material would fetch the page anew for
// the first such link, and whoever came by keys would start at its top again.
function stayOnPage(event) {
  const link = event.target.closest?.("a[href]:not(.md-search-result__link)")
  if (link?.hash && link.href === location.href.split("#")[0] + link.hash) link.target = "_self"
}
let turned = false // to another page, by Material
const push = history.pushState.bind(history)
history.pushState = (...entry) => { turned = true; push(...entry) }
function ignoreOwnHistory(event) {
  if (!turned) event.stopImmediatePropagation()
}
document.addEventListener("click", stayOnPage, { capture: true })
window.addEventListener("popstate", ignoreOwnHistory)

document.addEventListener("keydown", searchOnCtrlK)
document.addEventListener("click", followTwin)
document.addEventListener("click", leaveResults, { capture: true })
document.addEventListener("keydown", ignoreLetters, { capture: true })
document.addEventListener("keydown", returnFocus)
document.addEventListener("keyup", waitForInputMethod, { capture: true })
document.addEventListener("focusin", rememberOpener)
document.addEventListener("input", searchOnInput)
document.addEventListener("compositionend", searchOnInput)
for (const event of ["input", "compositionend", "focusin", "change"]) document.addEventListener(event, shareQuery)
// The indexes show only the rows with the words that are typed above them; of a message
// that was pasted, with most: its numbers, places and names are those of the reader.
const PASTED = 4, MOST = 0.7
function filterRows({ target }) {
  if (!target.matches?.("[data-filter]")) return
  const words = target.value.toLowerCase().replace(/\S*[/\\]\S*|'[^']*'|"[^"]*"/g, " ").match(/(?<!\w)[a-z_][\w.]*\w|\p{sc=Han}+/gu) ?? []
  const enough = words.length > PASTED ? MOST * words.length : words.length
  const page = target.closest("article"), rows = [...page.querySelectorAll("li:not(:has(li), .jumps li, .tiles li)")]
  const asked = text => words.filter(word => text.includes(word)).length
  page.classList.toggle("filtered", words.length > 0)
  for (const row of rows) row.hidden = asked(row.textContent.toLowerCase()) < enough
  const empty = part => !part.querySelector("li:not([hidden]):not(:has(li))")
  for (const group of page.querySelectorAll("li:has(li)")) group.hidden = empty(group)
  for (const list of page.querySelectorAll("h2 + :is(ul, .cards)")) list.hidden = list.previousElementSibling.hidden = empty(list)
  const left = rows.filter(row => !row.hidden).length, search = target.parentElement.querySelector("a")
  target.parentElement.querySelector("output").value = `${left} / ${rows.length}`
  search.hidden = left > 0
  search.href = `?q=${encodeURIComponent(target.value)}`
}
document.addEventListener("input", filterRows)

// Material gives the search a role but no name.
function nameLandmarks() {
  const search = document.querySelector(".md-search")
  search?.setAttribute("aria-label", search.querySelector("input").ariaLabel)
  // Nor does it tell those who do not see it what was copied and found.
  for (const said of document.querySelectorAll(".md-dialog__inner, .md-search-result__meta")) said.role = "status"
}

// Two things to copy: the answer, and the file; each button says which.
function nameParts() {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap"))
    table.tabIndex = 0 // else keys cannot scroll it
  // What Material calls navigations, but is no landmark.
  for (const part of document.querySelectorAll(".md-code__nav, nav.md-tags")) part.role = "none"
  for (const button of document.querySelectorAll(".md-code__button[data-md-type=copy]")) {
    const file = button.closest(".highlight")?.querySelector(".filename")?.textContent
    const name = button.closest(".answer") ? words.copy_answer : file ? `${words.copy_file} ${file}` : words.copy_block
    button.title = name
    button.ariaLabel = name
    button.dataset.label ??= words.copy_file
  }
}

// What was copied says so where the reader looks.
function sayCopied({ target }) {
  const button = target.closest?.(".md-code__button[data-label]")
  if (!button) return
  button.dataset.label = words.copied
  button.classList.add("copied")
  setTimeout(() => { button.dataset.label = words.copy_file; button.classList.remove("copied") }, 2000)
}
document.addEventListener("click", sayCopied)

// Who needs no more than the answer copies it from the result.
function offerCopies() {
  for (const result of document.querySelectorAll(".md-search-result__item:has(pre):not(:has(.search-copy))"))
    result.append(make("button", { className: "search-copy", type: "button", ariaLabel: words.copy_answer }, words.copy_file))
}
async function copyResult({ target }) {
  const button = target.closest?.(".search-copy")
  if (!button) return
  const page = button.parentElement.querySelector("a").pathname.replace(/\/$/, ".md")
  const answer = fetch(page).then(file => file.text()).then(text => text.match(/^```(?:python|bash)\n([^]*?)\n```$/m)[1])
  // Safari lets a page write only what the click itself has promised.
  const text = answer.then(code => new Blob([code], { type: "text/plain" }))
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })])
  button.textContent = words.copied
}
document.addEventListener("click", copyResult)

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
  window.document$?.subscribe(() => { shown = location.pathname; land() })
  // Material adds the buttons after it has shown a page, many changes at a time.
  let due
  new MutationObserver(() => { due ??= setTimeout(() => { due = undefined; nameParts(); offerCopies() }, 50) })
    .observe(document.body, { childList: true, subtree: true })
  new MutationObserver(land).observe(document.body, { attributeFilter: ["data-md-scrolllock"] })
})
