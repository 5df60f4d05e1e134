/* Narrows the list of all recipes. Its page loads this, anew each time it is shown. */
{
  const form = document.querySelector(".filter"), shown = form.querySelector("output")
  const sections = [...document.querySelectorAll(".all-of")]
  let recipes
  const load = () => recipes ??= fetch(form.dataset.recipes).then(response => response.json())

  const words = ({ title, description, covers, tags, apis, errors, answer }) =>
    [title, description, covers, tags, apis, errors, { answer }].flatMap(Object.values).join("\n").toLowerCase()
  const asked = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value))

  /** Whether a recipe is what the form asks for. */
  const fits = (recipe, { text = "", category, gpu, error }) =>
    text.toLowerCase().split(/\s+/).every(word => words(recipe).includes(word))
    && (!category || recipe.category === category)
    && (!gpu || recipe.snippets.some(snippet => snippet.device === "gpu"))
    && (!error || recipe.errors.length > 0)

  /** Show what fits, and say how much it is; the address keeps what is asked. */
  async function narrow() {
    const wanted = asked(), { recipes: all } = await load()
    const found = new Set(all.filter(recipe => fits(recipe, wanted)).map(recipe => recipe.slug))
    for (const section of sections) {
      const items = [...section.querySelectorAll("[data-slug]")]
      for (const item of items) item.hidden = !found.has(item.dataset.slug)
      section.hidden = items.every(item => item.hidden)
    }
    shown.value = shown.dataset.words.replace("{n}", found.size).replace("{all}", all.length)
    const address = new URL(location)
    address.search = new URLSearchParams(wanted)
    history.replaceState(history.state, "", address)
  }

  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.elements[name]
    if (field?.type === "checkbox") field.checked = true
    else if (field) field.value = value
  }
  form.addEventListener("focusin", load, { once: true })
  form.addEventListener("input", narrow)
  form.addEventListener("submit", event => event.preventDefault())
  if (Object.keys(asked()).length) narrow()
}
