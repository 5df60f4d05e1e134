/* The search worker: speaks the messages of Material's search box, ranks pages
   by BM25 over words, parts of API names, and pairs of Chinese characters. */

const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3
const FIELDS = { title: 3, aliases: 2, symbols: 1, errors: 1, headings: 1, text: 1 }
const K1 = 1.2, B = 0.5
const SHOWN = 20
const LONG_QUERY = 240
const PREFIX = 0.7, TYPO = 0.5  // what an inexact match is worth
const PHRASE = 2                // what it is worth to ask just what an alias says

const STOP = new Set(("a an and are as at be but by can do does for from get has have how i in is it its " +
  "me my of on or so that the this to use using want was what when where which why will with you your " +
  "python pytorch torch").split(" "))
// Question words and particles carry no topic; removed before pairing.
const STOP_HAN = /怎么办|为什么|怎么样|怎么|怎样|如何|什么|请问|哪些|哪个|可以|需要|我的|一个|这个|的时候|时候|[的了吗呢吧啊么和与及在是把被让给用]/g

/** Split text into the terms that are indexed and searched. */
function terms(text) {
  const found = []
  for (const run of text.normalize("NFKC").match(/[\p{sc=Han}]+|[\w.]+/gu) ?? [])
    if (/\p{sc=Han}/u.test(run)) found.push(...pairs(run))
    else found.push(...words(run))
  return found
}

function pairs(run) {
  const found = []
  for (const part of run.replace(STOP_HAN, " ").split(" ")) {
    const characters = [...part]
    if (characters.length === 1) found.push(part)
    for (let i = 0; i + 1 < characters.length; i++) found.push(characters[i] + characters[i + 1])
  }
  return found
}

/** A Latin word whole, its dotted parts, and their parts: clip_grad_norm_, clip, grad, norm. */
function words(run) {
  const found = new Set()
  for (const name of run.split(".").filter(Boolean)) {
    const whole = name.toLowerCase().replace(/^_+|_+$/g, "")
    const parts = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split("_").filter(Boolean)
    for (const word of [whole, ...parts])
      if (word && !/^\d+$/.test(word) && !STOP.has(word)) found.add(stem(word))
  }
  return found
}

/** Cut the endings that differ between a question and a page. */
function stem(word) {
  if (word.length < 5 || word.includes("_")) return word
  return word
    .replace(/(ss|us|is)$/, "$1 ").replace(/ies$/, "y").replace(/(?:ings?|ed|es|s)$/, "").trim()
    .replace(/([bdgmnprt])\1$/, "$1").replace(/e$/, "")
}

/** Of a pasted log only what the error says; of anything else, everything. */
function telling(query) {
  const lines = query.split("\n").map(line => line.trim()).filter(Boolean)
  const error = lines.findLastIndex(line => /^[\w.]*(?:Error|Exception|Warning)\b/.test(line))
  const start = error >= 0 ? error : query.length > LONG_QUERY ? -1 : 0
  return lines.slice(start).join(" ").slice(0, 4 * LONG_QUERY).replace(/(?:[\w.~-]*\/)+[\w.-]+|0x[0-9a-f]+/gi, " ")
}

/** Edits between two words, a swap of neighbours counting one; more than most is most + 1. */
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before = [], last = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1)
    }
    if (Math.min(...row) > most) return most + 1
    before = last
    last = row
  }
  return last[b.length]
}

class Index {
  constructor(docs) {
    this.docs = new Map()       // address → what cookbook/search.py wrote of it
    this.postings = new Map()   // term → Map(address → weighted count)
    this.lengths = new Map()    // address → weighted number of terms
    this.phrases = new Map()    // terms of a title or an alias → addresses
    for (const doc of docs) this.add(doc)
    this.meanLength = [...this.lengths.values()].reduce((sum, n) => sum + n, 0) / this.lengths.size
    this.vocabulary = [...this.postings.keys()]
  }

  add(doc) {
    const address = doc.location
    this.docs.set(address, doc)
    this.lengths.set(address, 0)
    for (const [field, weight] of Object.entries(FIELDS)) this.count(address, doc[field], weight)
    for (const phrase of [doc.title, ...doc.aliases.split(" · ")]) this.note(phrase, address)
  }

  note(phrase, address) {
    const key = phraseKey(terms(phrase))
    if (!this.phrases.has(key)) this.phrases.set(key, new Set())
    this.phrases.get(key).add(address)
  }

  count(address, text, weight) {
    for (const term of terms(text)) {
      if (!this.postings.has(term)) this.postings.set(term, new Map())
      const counts = this.postings.get(term)
      counts.set(address, (counts.get(address) ?? 0) + weight)
      this.lengths.set(address, this.lengths.get(address) + weight)
    }
  }

  /** The indexed terms a query's term stands for, with what each is worth. */
  matches(term) {
    const found = new Map()
    if (this.postings.has(term)) found.set(term, 1)
    if (!/^[a-z]/.test(term)) return found
    const most = term.length >= 8 ? 2 : term.length >= 4 ? 1 : 0
    for (const other of this.vocabulary)
      if (other !== term && term.length >= 2 && other.startsWith(term)) found.set(other, PREFIX)
    if (found.size === 0 && most)
      for (const other of this.vocabulary)
        if (other[0] === term[0] && distance(term, other, most) <= most) found.set(other, TYPO)
    return found
  }

  search(query) {
    const wanted = [...new Set(terms(telling(query)))]
    const scores = new Map(), used = new Set()
    for (const term of wanted) {
      const best = new Map()
      for (const [match, worth] of this.matches(term)) {
        used.add(match)
        const counts = this.postings.get(match)
        const rarity = Math.log(1 + (this.docs.size - counts.size + 0.5) / (counts.size + 0.5))
        for (const [address, n] of counts) {
          const length = 1 - B + B * this.lengths.get(address) / this.meanLength
          const score = worth * rarity * n * (K1 + 1) / (n + K1 * length)
          best.set(address, Math.max(score, best.get(address) ?? 0))
        }
      }
      for (const [address, score] of best) scores.set(address, (scores.get(address) ?? 0) + score)
    }
    for (const address of this.phrases.get(phraseKey(wanted)) ?? [])
      scores.set(address, scores.get(address) * PHRASE)
    const ranked = [...scores].sort((a, b) => b[1] - a[1])
    return ranked.slice(0, SHOWN).map(([address, score]) => this.result(address, score, used))
  }

  /** What the box shows of a page: its title and sentence, and its best heading. */
  result(address, score, used) {
    const { title, text, headings } = this.docs.get(address)
    const shown = [{ location: address, title: mark(title, used), text: `<p>${escape(text)}</p>`, score, terms: {} }]
    const hits = heading => terms(heading).filter(term => used.has(term)).length
    const best = headings.split("\n").map(line => [hits(line), line]).sort((a, b) => b[0] - a[0])[0]
    if (best[0] > 1) {
      const [, anchor, heading] = best[1].match(/^(\S+) (.*)$/)
      shown.push({ location: `${address}#${anchor}`, title: mark(heading, used), text: "", score: score / 2, terms: {} })
    }
    return shown
  }
}

const phraseKey = found => [...new Set(found)].sort().join(" ")
const escape = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")

/** Mark the words of a title that the query asked for. */
function mark(title, used) {
  const parts = title.split(/([\p{sc=Han}]|[^\s\p{sc=Han}]+)/u)
  const pair = (i, step) => (parts[i + step] ?? "").length === 1
  return parts.map((part, i) => {
    const han = /^\p{sc=Han}$/u.test(part)
    const asked = han
      ? used.has(part) || (pair(i, 2) && used.has(part + parts[i + 2])) || (pair(i, -2) && used.has(parts[i - 2] + part))
      : terms(part).some(term => used.has(term))
    return asked ? `<mark data-md-highlight>${escape(part)}</mark>` : escape(part)
  }).join("").replaceAll("</mark><mark data-md-highlight>", "")
}

let index
addEventListener("message", ({ data: message }) => {
  if (message.type === SETUP) {
    index = new Index(message.data.docs)
    postMessage({ type: READY })
  } else if (message.type === QUERY) {
    postMessage({ type: RESULT, data: { items: index.search(message.data) } })
  }
})
