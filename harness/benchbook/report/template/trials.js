// Shows the trial that the address names: #trial-0012. All texts enter the page as text, never as HTML.
(() => {
  const held = JSON.parse(document.getElementById("bb-trials").textContent);
  const place = document.getElementById("bb-trial");
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const significant = (value) =>
    value !== 0 && Math.abs(value) < 1e-6 ? value.toExponential(2) : value.toLocaleString("en", { maximumSignificantDigits: 4 });
  const prefixes = { s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]], B: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]] };
  const measured = (value, unit, noun) => {
    if (value === null) return "n/a";
    if (unit === "1/s") return `${significant(value)} ${noun ? `${noun}/s` : "per second"}`;
    const [base, suffix] = unit === "B/s" ? ["B", "/s"] : [unit, ""];
    const steps = prefixes[base];
    if (!steps || !value) return `${significant(value)} ${unit === "1" ? noun : unit}`.trim();
    const [divisor, name] = steps.find(([least]) => Math.abs(value) >= least) ?? steps.at(-1);
    return `${significant(value / divisor)} ${name}${suffix}`;
  };
  const table = (caption, columns, rows) =>
    element("div", { class: "bb-table bb-stacked", role: "region", tabindex: "0", "aria-label": caption },
      element("table", {},
        element("thead", {}, element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...rows.map((row) =>
          element("tr", {}, ...row.map((cell, at) => element("td", { "data-column": columns[at] }, cell)))))));
  const pairs = (rows) => element("dl", { class: "bb-lines" },
    ...rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  const drawn = ([panel, seconds, mean, largest, samples]) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const last = Math.max(samples.length - 1, 1), top = held.digits.length - 1;
    const points = [...samples].map((one, at) => [100 * at / last, held.digits.indexOf(one)]).filter(([, value]) => value >= 0);
    line.setAttribute("d", points.map(([x, value], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${(32 - 30 * value / top).toFixed(1)}`).join(""));
    svg.setAttribute("viewBox", "0 0 100 33");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    svg.append(line);
    return element("figure", {}, element("figcaption", {}, held.panels[panel]), svg,
      element("small", {}, `${mean} on average, at most ${largest}; ${seconds} s`));
  };
  const measurements = (trial) => {
    const found = new Map();
    for (const [at, value] of trial.m.entries()) {
      const [phase, title, unit, noun, name] = held.metrics[held.columns[trial.k][at]];
      if (!found.has(phase)) found.set(phase, []);
      found.get(phase).push([title, measured(value, unit, noun), element("code", {}, name)]);
    }
    return [...found].map(([phase, rows]) => {
      const named = phase === held.trial ? "The whole trial" : `Phase ${phase}`;
      return element("details", { class: "bb-data", open: "" }, element("summary", {}, `${named}: ${rows.length} numbers`),
        table(`Measurements of ${named}`, ["Quantity", "Value", "Metric"], rows));
    });
  };
  const show = (at, scroll) => {
    const trial = held.trials[at];
    const link = (to, text) => held.trials[to] ? [element("a", { href: `#trial-${held.trials[to].n}` }, text), " "] : [];
    const facts = trial.f.map((text, number) => [held.facts[number], held.texts[text]]);
    const known = (rows) => pairs(rows.filter(([, text]) => text));
    const checks = trial.c.map((number) => held.checks[number]);
    const failed = checks.filter((one) => !one[3]).length;
    const command = `${place.dataset.sql} "SELECT * FROM measurements WHERE trial_id = '${held.run}/${trial.n}'"`;
    place.replaceChildren(
      element("h2", { tabindex: "-1" }, `Trial ${trial.n}`),
      element("p", {}, ...link(at - 1, "Previous trial"), ...link(at + 1, "Next trial")),
      known(facts.slice(0, held.folded)),
      element("details", { class: "bb-data" }, element("summary", {}, "Program, storage, load and digests"), known(facts.slice(held.folded))),
      element("h3", {}, "Telemetry"),
      trial.t.length
        ? element("div", { class: "bb-series" }, ...trial.t.map(drawn))
        : element("p", {}, held.left.telemetry ? "The page has no room for telemetry; tables/telemetry.parquet has it." : "No two samples of this trial were published."),
      element("h3", {}, "Checks"),
      checks.length
        ? element("details", { class: "bb-data", ...(failed ? { open: "" } : {}) },
          element("summary", {}, `${checks.length - failed} of ${checks.length} checks passed`),
          table("Checks", ["Check", "Expected", "Found", "Passed"], checks.map(([what, expected, found, ok]) => [what, expected, found, ok ? "yes" : "no"])))
        : element("p", {}, "No check was recorded."),
      element("h3", {}, "Measurements"),
      ...(held.left.measurements ? [element("p", {}, "The page has no room for measurements; tables/measurements.parquet has them.")] : measurements(trial)),
      element("p", { class: "bb-note" }, "With all digits, in a clone of the repository:"),
      element("pre", {}, element("code", {}, command)),
    );
    for (const row of document.querySelectorAll("tr.is-shown")) row.classList.remove("is-shown");
    document.getElementById(`trial-${trial.n}`)?.classList.add("is-shown");
    if (scroll) {
      place.scrollIntoView();
      place.querySelector("h2").focus({ preventScroll: true });
    }
  };
  const follow = () => {
    const at = held.trials.findIndex((one) => location.hash === `#trial-${one.n}`);
    if (at >= 0) show(at, true);
  };
  addEventListener("hashchange", follow);
  follow();
})();
