/* The search worker: speaks the messages of Material's search box, ranks recipes
   by BM25 over words, parts of API names, and pairs of Chinese characters. The
   index of the other language is fetched once somebody types in that language.
   `python -m cookbook find` runs this very file under QuickJS. */

const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3
const OTHER = { en: "zh", zh: "en" }
// The titles come first, so that a slow line has a result soon; then all else that is searched.
const FIRST = "search/search_index.json", REST = "search/search_rest.json"
const OTHERS = ["errors", "text", "aliases", "asked", "often", "answers", "tags"]  // columns that come with the rest
// asked and often: words of one question that the recipe answers, or of several.
const FIELDS = { title: 3, errors: 1.5, aliases: 1, text: 0.7, asked: 0.3, often: 0.8 }
const K1 = 1.2, B = 0.5
const SHARE = 0.25              // of the best score: what has less is a stranger
const LONG_QUERY = 800       // characters; more is a pasted log
const PREFIX = 0.7, TYPO = 0.65, HALF = 0.6, PART = 0.7  // what an inexact match is worth, and a part of a name
const LIKE = 3                  // what it is worth to ask just what a title or an alias says
const ORDER = 0.5               // and how much of it depends on the order: PIL to tensor, tensor to PIL
const ALIKE = 0.8               // what a synonym is worth
const LIKELY = 1                // a title with a score like this says most of what was asked
// Whether there is no recipe, fitted to the development queries: a topic without one that does as
// well as the best recipe speaks for it; against it a good score, and many words to have it from.
const NONE = 5.2, TOPIC = 3.2, SCORE = 3.2, TERMS = 2.2
const FIRST_AID = "errors/", CALM = 0.2  // how much less a page of it is worth to who complains of nothing
const COMPLAINT = /error|exception|warning|traceback|fail|cannot|can't|\bnot\b|\bnan\b|memory|报错|错|失败|不|爆|卡住|崩|没/i
const HELD = 40, QUOTED = 0.7   // characters of a message in a query; how like its recipe that makes the query
const CANDIDATES = 30           // so many are compared with the query phrase by phrase
const NEAREST = 3               // recipes, or categories, offered where none fits

// Words that carry no topic: cookbook/site/search.py leaves them out of the index, this worker out of what it is asked.
let stop = new Set(), stopHan = /(?!)/g
const BARE = /^\d{1,3}$|^\d{5,}$/  // numbers that say nothing; four digits may name a graphics card

/** The terms of a text: what is indexed and searched. */
function terms(text) {
  const found = new Set()
  for (const run of runs(text))
    if (isLatin(run)) for (const [term] of words(run)) found.add(term)
    else for (const pair of pairs(run)) found.add(pair)
  return found
}

/** The terms of a query, each with its worth and the word as it was typed. */
function weighted(query) {
  const found = new Map()
  for (const run of runs(query))
    for (const [term, worth, word] of isLatin(run) ? words(run) : pairs(run).map(pair => [pair, 1, pair]))
      if (worth > (found.get(term)?.worth ?? 0)) found.set(term, { worth, word })
  return found
}

const runs = text => (/[^\x00-\x7f]/.test(text) ? text.normalize("NFKC") : text).match(/\p{sc=Han}+|[Cc]\+\+|[\w.]+|==|[*@]/gu) ?? []
const isLatin = run => /^[\w.]/.test(run)
const sum = (all, worth) => all.reduce((total, one) => total + worth(one), 0)

/** Chinese two characters at a time. */
function pairs(run) {
  const found = []
  for (const part of run.replace(stopHan, " ").split(" ")) {
    if (part.length === 1) found.push(part)
    for (let i = 0; i + 1 < part.length; i++) found.push(part.slice(i, i + 2))
  }
  return found
}

/** A pair across two words, 转张 in 翻转张量, is rare and says little: it counts half as its commoner neighbour. */
function between(query, wanted) {
  const rarity = new Map([...wanted].map(([term, found]) => [term, found.rarity]))
  for (const run of runs(query).filter(run => !isLatin(run)))
    for (let i = 1; i + 2 < run.length; i++) {
      const [own, ...around] = [i, i - 1, i + 1].map(at => rarity.get(run.slice(at, at + 2)))
      const commoner = Math.min(own, ...around)  // NaN where a stop word is between them
      if (commoner < own) wanted.get(run.slice(i, i + 2)).rarity = (own + commoner) / 2
    }
}

const known = new Map()  // most words come back again and again

/** A Latin word whole, its dotted parts, and their parts: clip_grad_norm_, clip, grad, norm. */
function words(run) {
  if (known.has(run)) return known.get(run)
  const found = []
  known.set(run, found)
  for (const name of run.split(".").filter(Boolean)) {
    const whole = name.toLowerCase().replace(/^_+|_+$/g, "")
    if (stop.has(whole)) continue
    const parts = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split("_").filter(Boolean)
    for (const [word, worth] of [[whole, 1], ...parts.map(part => [part, PART])])
      if (word && !BARE.test(word) && !stop.has(word)) found.push([stem(word), worth, word])
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

/** Of a pasted log only what the error says, without what CUDA adds to each; of anything else, everything. */
function telling(query) {
  const names = [...query.matchAll(/(?<![\w.(])[\w.]+(?:Error|Exception|Warning)(?=:\s|\s*$)/gm)]
  const error = names.findLast(([name]) => !name.endsWith("ChildFailedError"))  // which only says that a rank failed
  const lines = query.trim().split("\n")
  const told = error ? query.slice(error.index).slice(error[0].length, LONG_QUERY) || error[0]
    : query.length > LONG_QUERY ? lines.at(-1).slice(-LONG_QUERY) : query
  return told.replace(/(?<=\S)\s+CUDA kernel errors might be asynchronously[^]*/, "")
    .replace(/(?:[\w.~-]*\/)+[\w.-]+|0x[0-9a-f]+/gi, " ")
}

/** Edits between two words, a swap of neighbours counting one; more than most is most + 1. */
function distance(a, b, most) {
  let before = [], last = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1)
    }
    if (Math.min(...row) > most) return most + 1
    before = last
    last = row
  }
  return last[b.length]
}

/** Whether two words differ in more letters, at a glance, than most edits explain. */
function strange(a, b, most) {
  return Math.abs(a.length - b.length) > most || sum([...a], letter => !b.includes(letter)) > most
}

class Index {
  /** docs: columns, each with an entry per recipe, as cookbook/site/search.py writes them.
      The topics that no recipe is about follow the recipes: a title and aliases. */
  constructor({ config, docs }) {
    this.lang = config.lang[0]
    this.categories = config.categories  // slug → title
    known.clear()
    stop = new Set(config.stop)
    for (const word of config.stop) stop.add(stem(word))
    stopHan = new RegExp(config.stop.filter(word => /\p{sc=Han}/u.test(word)).join("|"), "g")
    this.simplified = new Map(config.traditional.map(pair => [...pair]))  // traditional character → ours
    this.alike = new Map()  // term → those that readers use for it
    for (const group of config.alike.map(line => line.split(" ").map(stem)))
      for (const term of group)
        this.alike.set(term, [...this.alike.get(term) ?? [], ...group.filter(other => other !== term)])
    this.partial = !docs.aliases
    this.docs = { ...Object.fromEntries(OTHERS.map(column => [column, docs.title.map(() => "")])), ...docs }
    this.also = config.also  // what stands before an alias
    this.popular = config.popular  // numbers of the recipes that an empty box offers
    this.recipes = docs.location.length
    this.size = docs.title.length
    this.foreign = config.foreign ? new RegExp(config.foreign, "iu") : null  // script of the other language
    this.postings = new Map()   // term → [number of a recipe, weight, number, weight, …]
    this.lengths = Array(this.size).fill(0)  // weighted number of terms
    this.add(Object.keys(FIELDS), this.docs)
  }

  /** Add the texts of some columns, recipe by recipe. */
  add(fields, columns) {
    for (let n = 0; n < this.size; n++) {
      const weights = new Map()
      for (const field of fields)
        for (const term of terms(columns[field][n] ?? ""))
          weights.set(term, (weights.get(term) ?? 0) + FIELDS[field])
      for (const [term, weight] of weights) {
        this.post(term, n, weight)
        this.lengths[n] += weight
      }
    }
    this.meanLength = sum(this.lengths.slice(0, this.recipes), length => length) / this.recipes
    this.phrases = Array(this.size)  // terms of the title and of each alias, once asked for
    this.sorted = this.words = undefined
  }

  /** All terms, in order; made when first asked for, as is the next. */
  get vocabulary() {
    return this.sorted ??= [...this.postings.keys()].sort()
  }

  /** Latin word → its term; "" for a word that is not searched for. */
  get spelt() {
    return this.words ??= new Map([
      ...[...stop].filter(word => word.length > 4).map(word => [word, ""]),
      ...[...known.values()].flat().filter(([term]) => this.postings.has(term)).map(([term, , word]) => [word, term]),
    ])
  }

  /** Add to a term's posting, which is in the order of the numbers; most come in this order. */
  post(term, n, weight) {
    const posting = this.postings.get(term)
    if (!posting) return this.postings.set(term, [n, weight])
    if (posting.at(-2) < n) return posting.push(n, weight)
    const i = posting.findIndex((at, place) => place % 2 === 0 && at >= n)
    if (posting[i] === n) posting[i + 1] += weight
    else posting.splice(i, 0, n, weight)
  }

  /** Add the titles and aliases of the other language: docs of its index. */
  addForeign({ title, aliases: phrases }) {
    this.foreign = null
    const aliases = title.map((text, n) => `${text}\n${phrases[n]}`)
    this.add(["aliases"], { aliases })
    this.docs.aliases = this.docs.aliases.map((own, n) => `${own}\n${aliases[n]}`)
  }

  /** How much a term says that so many recipes have: as a rule, those that it is indexed for. */
  rarity(term, count = this.postings.get(term).length / 2) {
    return Math.log(1 + (this.size - count + 0.5) / (count + 0.5))
  }

  /** The indexed terms a query's term stands for, with what each is worth. */
  matches(term, word) {
    const found = new Map()
    if (this.postings.has(term)) found.set(term, 1)
    for (const other of this.alike.get(term) ?? [])
      if (this.postings.has(other)) found.set(other, ALIKE)
    if (/^\p{sc=Han}/u.test(term)) return found.size ? found : this.halves(term)
    if (!/^[a-z]/.test(term)) return found
    if (term.length >= 2)
      for (const other of this.beginning(term))
        found.set(other, Math.max(PREFIX, found.get(other) ?? 0))
    return found.size ? found : this.corrected(word)
  }

  /** The terms that begin with a term; they stand side by side. */
  beginning(term) {
    let [low, high] = [0, this.vocabulary.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.vocabulary[middle] < term) low = middle + 1
      else high = middle
    }
    high = low
    while (this.vocabulary[high]?.startsWith(term)) high++
    return this.vocabulary.slice(low, high)
  }

  /** What a word may stand for that nobody has written: the nearest in spelling. */
  corrected(word) {
    const found = new Map()
    let most = word.length >= 6 ? 2 : word.length >= 4 ? 1 : 0
    for (const [other, term] of most ? this.spelt : []) {
      if (strange(word, other, most)) continue
      const edits = distance(word, other, most)
      if (edits > most) continue
      if (edits < most) found.clear()
      most = edits
      found.set(term, TYPO)
    }
    found.delete("")
    return found
  }

  /** The pairs that have one character of an unknown pair in its place: 近程 for 进程. */
  halves(pair) {
    const alike = this.vocabulary.filter(other =>
      other.length === 2 && (other[0] === pair[0] || other[1] === pair.at(-1)))
    return new Map(alike.map(other => [other, HALF]))
  }

  /** What a term of the query finds: its matches, the score of each recipe, its rarity. */
  lookUp(term, { worth: wanted, word }) {
    const matches = this.matches(term, word), scores = new Map()
    for (const [match, worth] of matches) {
      const posting = this.postings.get(match)
      for (let i = 0; i < posting.length; i += 2) {
        const n = posting[i], weight = posting[i + 1]
        const length = n < this.recipes ? 1 - B + B * this.lengths[n] / this.meanLength : 1
        const score = worth * weight * (K1 + 1) / (weight + K1 * length)
        if (score > (scores.get(n) ?? 0)) scores.set(n, score)
      }
    }
    // All that a word may stand for is as rare as the word: "tensor" is not "tensorrt".
    return { matches, scores, rarity: wanted * this.rarity(term, scores.size) }
  }

  /** Recipes and topics for a query, best first: [number, score]; and what its terms stand for.
      A score is a share of what the whole query could earn. */
  rank(query) {
    const said = telling(query)
    const wanted = new Map([...weighted(said)].map(([term, asked]) => [term, this.lookUp(term, asked)]))
    between(said, wanted)
    const all = sum([...wanted.values()], ({ rarity }) => rarity)
    const means = new Map()  // indexed term → what is asked that it may answer, and how well
    for (const [term, { matches }] of wanted)
      for (const [match, worth] of matches) means.set(match, [...means.get(match) ?? [], [term, worth]])
    const totals = new Map()
    for (const { scores, rarity } of wanted.values())
      for (const [n, score] of scores) totals.set(n, (totals.get(n) ?? 0) + score * rarity / all)
    const calm = !COMPLAINT.test(query)
    const worth = n => {
      const alike = this.likeness(n, said, wanted, means, all)
      const aid = calm && this.docs.location[n]?.startsWith(FIRST_AID)
      return (1 + LIKE * alike) * (aid ? 1 - CALM * (1 - alike) : 1)
    }
    const byScore = (a, b) => b[1] - a[1]
    const ranked = [...totals].sort(byScore)
      .map(([n, score], i) => [n, i < CANDIDATES ? score * worth(n) : score]).sort(byScore)
    return { ranked, wanted }
  }

  /** How nearly the query is one phrase of a recipe: 1 where it is just its title or an alias; it may hold a message. */
  likeness(n, said, wanted, means, all) {
    const held = this.docs.errors[n]?.split("\n").some(line => line.length > HELD && said.includes(line.replace("…", "")))
    let best = held ? QUOTED : 0
    for (const phrase of this.phrasesOf(n)) {
      const answers = new Map()  // what is asked → the worth and the place of the term that answers it
      phrase.forEach((term, place) => {
        for (const [asked, worth] of means.get(term) ?? [])
          if (worth > (answers.get(asked)?.worth ?? 0)) answers.set(asked, { worth, place })
      })
      if (!answers.size) continue
      const places = [...wanted.keys()].filter(asked => answers.has(asked)).map(asked => answers.get(asked).place)
      const follows = places.filter((place, i) => place === places[i - 1] + 1)
      const common = sum([...answers], ([asked, { worth }]) => worth * wanted.get(asked).rarity)
      const more = sum(phrase.filter((_, place) => !places.includes(place)), term => this.rarity(term))
      best = Math.max(best, common / (all + more) * (1 - ORDER + ORDER * (1 + follows.length) / wanted.size))
    }
    return best
  }

  /** The terms of a recipe's title, of what stands before its first colon or comma, of each alias and error. */
  phrasesOf(n) {
    const { title, aliases, errors } = this.docs
    this.phrases[n] ??= `${title[n]}\n${title[n].split(/[:：,，、]/)[0]}\n${aliases[n]}\n${errors[n] ?? ""}`
      .split("\n").map(text => [...terms(text)])
    return this.phrases[n]
  }

  search(query) {
    if (!query.trim()) return { items: this.popular.map(n => this.result(n, 0, new Set())), none: false }
    const { ranked, wanted } = this.rank(query.replace(/\p{sc=Han}/gu, one => this.simplified.get(one) ?? one))
    // What shares but a character with the query would only puzzle who sees it marked.
    const sure = ({ matches }) => [...matches].filter(([, worth]) => worth > HALF).map(([term]) => term)
    const used = new Set([...wanted.values()].flatMap(sure))
    const recipes = ranked.filter(([n]) => n < this.recipes)
    const [topic, likely] = ranked.find(([n]) => n >= this.recipes) ?? []
    const best = recipes[0]?.[1] ?? 0
    const doubt = NONE + TOPIC * Math.min(3, (likely ?? 0) / (best || 1)) - SCORE * best - TERMS * Math.log(1 + wanted.size)
    const none = !this.partial && (!best || doubt > 0)
    const fits = recipes.filter(([, score]) => score > SHARE * best).slice(0, none ? NEAREST : Infinity)
    const items = fits.map(([n, score], i) => i < CANDIDATES ? this.result(n, score, used) : this.plain(n, score))
    return {
      items, none,
      topic: likely > best ? this.docs.title[topic] : "",
      nearest: items.length ? [] : this.nearest([...wanted.keys()]),
    }
  }

  /** A result far down the list: without its code, and without marks. */
  plain(n, score) {
    const { location, title, text, tags } = this.docs
    return [{
      location: location[n], title: escape(title[n]), text: `<p>${escape(text[n])}</p>`,
      tags: [this.categories[category(location[n])], ...tags[n].split("\n").filter(Boolean)], score, terms: {},
    }]
  }

  /** What the box shows of a recipe: title, sentence, category, device, and the error asked for. */
  result(n, score, used) {
    const { title, text, answers, errors } = this.docs
    const code = answers[n] && `<pre><code>${escape(answers[n])}</code></pre>`
    const lines = errors[n].split("\n")
    const shared = lines.map(line => [...terms(line)].map(term => used.has(term)))
    const hits = shared.map(asked => asked.filter(Boolean).length)
    const best = hits.indexOf(Math.max(...hits))
    // A task may share words with a message; who pastes it says most of it.
    const line = hits[best] < Math.max(2, shared[best].length * 2 / 3) ? ""
      : `<p data-anchor="error-${best + 1}" lang="en"><code>${mark(lines[best], used)}</code></p>`
    const also = line ? "" : this.hiddenAlias(n, used)
    const [found] = this.plain(n, score)
    return [{ ...found, title: mark(title[n], used), text: `<p>${mark(text[n], used)}</p>${also}${line}${code}` }]
  }

  /** The alias that says most of what was asked, where title and sentence say less. */
  hiddenAlias(n, used) {
    const { title, text, aliases } = this.docs
    const asked = text => [...terms(text)].filter(term => used.has(term))
    const seen = new Set(asked(`${title[n]} ${text[n]}`))
    const worth = alias => sum(asked(alias).filter(term => !seen.has(term)), term => this.rarity(term))
    const best = aliases[n].split("\n").map(alias => [worth(alias), alias]).sort((a, b) => b[0] - a[0])[0]
    return best[0] ? `<p class="search-also">${this.also}${mark(best[1], used)}</p>` : ""
  }

  /** Categories with words that begin alike or share a character; all where none does. */
  nearest(wanted) {
    const begins = wanted.map(term => /^[a-z]/.test(term) ? term.slice(0, 3) : term[0])
    const near = this.vocabulary.filter(term => begins.some(begin => term.startsWith(begin)))
    const counts = {}
    for (const n of near.flatMap(term => this.postings.get(term).filter((n, i) => i % 2 === 0 && n < this.recipes))) {
      const slug = category(this.docs.location[n])
      counts[slug] = (counts[slug] ?? 0) + 1
    }
    const found = Object.keys(counts).sort((a, b) => counts[b] - counts[a]).slice(0, NEAREST)
    return (found.length ? found : Object.keys(this.categories))
      .map(slug => ({ location: `${slug}/`, title: this.categories[slug] }))
  }
}

const category = location => location.split("/").at(-3)
const escape = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")

/** Mark the words that the query asked for. */
function mark(text, used) {
  const parts = text.split(/([\p{sc=Han}]|[\w.]+)/u)
  const pair = (i, step) => (parts[i + step] ?? "").length === 1
  return parts.map((part, i) => {
    const han = /^\p{sc=Han}$/u.test(part)
    const asked = han
      ? used.has(part) || (pair(i, 2) && used.has(part + parts[i + 2])) || (pair(i, -2) && used.has(parts[i - 2] + part))
      : [...terms(part)].some(term => used.has(term))
    return asked ? `<mark data-md-highlight>${escape(part)}</mark>` : escape(part)
  }).join("").replaceAll("</mark><mark data-md-highlight>", "")
}

let index, query, rest, foreign, latest = 0

const fetched = async path => (await fetch(new URL(`../../${path}`, location))).json()
const joined = (first, rest) => ({ ...first, ...rest, title: [...first.title, ...rest.title] })

/** Fetch what the index lacks, and answer the query again. */
async function complete({ config, docs }) {
  const more = await fetched(`${index.lang}/${REST}`).catch(() => undefined)
  if (more) index = new Index({ config, docs: joined(docs, more) })
  index.partial = false  // if it cannot be had, the titles are all there is
  if (query !== undefined) answer()
}

/** Fetch the other language's index, once; without it the search goes on as it is. */
async function fetchForeign() {
  const lang = OTHER[index.lang]
  const load = async ({ docs }) => docs.aliases ? docs : joined(docs, await fetched(`${lang}/${REST}`))
  foreign ??= fetched(`${lang}/${FIRST}`).then(load).catch(() => { foreign = undefined })
  const docs = await foreign
  if (docs && index.foreign) index.addForeign(docs)
}

/** Say what is found; while there are only titles, what one of them says. */
function answer() {
  const found = index.search(query)
  if (!index.partial || found.items[0]?.[0].score >= LIKELY) postMessage({ type: RESULT, data: found })
}

addEventListener("message", async ({ data: message }) => {
  if (message.type === SETUP) {
    index = new Index(message.data)
    postMessage({ type: READY })
    if (index.partial) rest = complete(message.data)
  } else if (message.type === QUERY) {
    query = message.data
    const turn = ++latest
    if (index.foreign?.test(query)) {
      await rest
      await fetchForeign()
    }
    if (turn === latest) answer()  // else the reader has typed on
  }
})
