// Draws each figure from its specification, from the top of the page down; the drawing that stands in the page
// stays there for print and for readers without scripts. Each figure gets buttons that save its picture and its
// table, one that changes a logarithmic axis to a linear one and back, and one for each of several lines that hides it.
const parts = (specification) => [
  specification,
  ...["layer", "hconcat", "vconcat", "concat"].flatMap((group) => (specification[group] ?? []).flatMap(parts)),
  ...(specification.spec ? parts(specification.spec) : []),
];
const encodings = (specification, ...names) =>
  parts(specification).flatMap((part) => names.map((name) => part.encoding?.[name]).filter(Boolean));
const logarithmic = (specification) => encodings(specification, "x", "y").filter((one) => one.scale?.type === "log");

// Data comes as columns, which are shorter; a name that repeats is the number of one in a list.
const rowsOf = ({ rows, columns }) =>
  Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(Object.entries(columns).map(([key, held]) => [key, held.of ? held.of[held.at[row]] : held[row]])));
const unpacked = (specification) => {
  const datasets = specification.datasets ?? {};
  for (const name of Object.keys(datasets)) if (datasets[name].columns) datasets[name] = rowsOf(datasets[name]);
  for (const { data } of parts(specification)) if (data?.values?.columns) data.values = rowsOf(data.values);
  return specification;
};

// The legend of the lines: the field that colours them and its levels; none for charts with a row for each setup.
const legend = (specification) =>
  encodings(specification, "color").find((one) => one.legend && one.scale?.domain?.length > 2 && one.scale.domain.length < 9);
const without = (specification, field, hidden) => {
  const copy = structuredClone(specification);
  const shown = (rows) => rows.filter((row) => !hidden.has(row[field]));
  for (const name of Object.keys(copy.datasets ?? {})) copy.datasets[name] = shown(copy.datasets[name]);
  for (const { data } of parts(copy)) if (Array.isArray(data?.values)) data.values = shown(data.values);
  return copy;
};

// A copy with linear axes from zero: the domain and the ticks of a logarithmic axis do not fit them.
const linear = (specification) => {
  const copy = structuredClone(specification);
  for (const one of logarithmic(copy)) {
    one.scale = { type: "linear", zero: true, nice: true };
    if (one.axis) {
      delete one.axis.values;
      delete one.axis.tickCount;
    }
  }
  return copy;
};

const save = (name, type, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = (table) =>
  [...table.rows].map((row) => [...row.cells].map((cell) => quoted(cell.textContent.trim())).join(",") + "\n").join("");
const picture = (figure) => {
  const shown = figure.classList.contains("is-live") ? ".bb-live svg" : ".bb-static svg";
  const copy = figure.querySelector(shown).cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy).replaceAll("currentColor", "#222222");
};

const addTools = (figure, specification, draw) => {
  const caption = figure.querySelector("figcaption");
  const what = caption.querySelector(".bb-what");
  const title = caption.firstChild.textContent;
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  const tools = document.createElement("p");
  tools.className = "bb-tools";
  const hidden = new Set();
  let straight = false;
  const redraw = () => {
    const axes = straight ? linear(specification) : specification;
    return draw(hidden.size ? without(axes, lines.field, hidden) : axes);
  };
  const button = (text, label, press) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = `${label}: ${title}`;
    made.addEventListener("click", () => press(made));
    tools.append(made);
    return made;
  };
  const lines = legend(specification);
  for (const line of lines?.scale.domain ?? []) {
    const chip = button(line, "Show or hide this line", async () => {
      hidden.delete(line) || hidden.add(line);
      chip.setAttribute("aria-pressed", String(!hidden.has(line)));
      await redraw();
    });
    chip.className = "bb-chip";
    chip.setAttribute("aria-pressed", "true");
  }
  if (what && logarithmic(specification).length) {
    const texts = { false: what.textContent, true: what.textContent.replace(/logarithmic axis/g, "linear axis") };
    button("Linear axis", "Change the axis", async (made) => {
      straight = !straight;
      made.textContent = straight ? "Logarithmic axis" : "Linear axis";
      what.textContent = texts[straight];
      await redraw();
    });
  }
  button("SVG", "Save the picture", () => save(`${name}.svg`, "image/svg+xml", picture(figure)));
  button("CSV", "Save the table", () => save(`${name}.csv`, "text/csv", csv(figure.querySelector(".bb-data table"))));
  figure.querySelector(".bb-data").before(tools);
};

const start = async (figure) => {
  const live = figure.querySelector(".bb-live");
  const specification = unpacked(JSON.parse(figure.querySelector(".bb-spec").textContent));
  const draw = (wanted) =>
    window.vegaEmbed(live, wanted, { mode: "vega-lite", renderer: "svg", actions: false });
  figure.classList.add("is-live");
  try {
    await draw(specification);
  } catch (error) {
    figure.classList.remove("is-live");
    console.error(error);
  }
  addTools(figure, specification, draw);
};

// Figures of which one is shown, such as of several baselines: the choice is in the address, so that a link leads to it.
for (const group of document.querySelectorAll(".bb-choice")) {
  const { choice } = group.dataset;
  const options = [...group.querySelectorAll(":scope > .bb-figure")];
  const select = document.createElement("select");
  select.append(...options.map(({ dataset }) => new Option(dataset.option, dataset.option)));
  const label = document.createElement("label");
  label.className = "bb-filter";
  label.append(`${choice[0].toUpperCase()}${choice.slice(1)} `, select);
  group.prepend(label);
  const asked = new URLSearchParams(location.search).get(choice);
  if (options.some(({ dataset }) => dataset.option === asked)) select.value = asked;
  const show = () => options.forEach((figure) => (figure.hidden = figure.dataset.option !== select.value));
  show();
  select.addEventListener("change", async () => {
    show();
    const address = new URLSearchParams(location.search);
    select.selectedIndex ? address.set(choice, select.value) : address.delete(choice);
    history.replaceState(null, "", `${location.pathname}${address.size ? `?${address}` : ""}${location.hash}`);
    const [figure] = options.filter((one) => !one.hidden && !one.querySelector(".bb-tools"));
    if (figure) await start(figure);
  });
}
for (const figure of document.querySelectorAll(".bb-figure:not([hidden])")) await start(figure);
