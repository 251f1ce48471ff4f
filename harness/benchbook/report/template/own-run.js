// Draws a run of the reader's beside the claims of this page: the file values.json of its export, dropped, chosen, or
// fetched from an address that the reader names. The ratios are computed here, and nothing is sent.
for (const table of document.querySelectorAll(".bb-claim-table")) {
  const part = table.querySelector(".bb-own");
  if (!part) continue;
  const status = part.querySelector("[role=status]");
  const [low, high] = table.dataset.axis.split(" ").map(Number);
  const at = (ratio) => (100 * Math.log(Math.min(Math.max(ratio, low), high) / low)) / Math.log(high / low);
  const number = (value) => String(Number(value.toPrecision(3)));

  // Student's t at 97.5 % for 1, 2, 3 … degrees of freedom; beyond, that for the next lower number.
  const T = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
    2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
  const FEWEST = 3;

  // The ratio of two setups, paired by block: the geometric mean, and its 95 % CI of three blocks or more.
  const estimate = (run, [over, of, phase, below, above]) => {
    const byBlock = (cell, metric) => new Map(run.trials.filter((trial) => trial.cell === cell)
      .map((trial) => [trial.block, trial.values?.[phase]?.[metric]]).filter(([, value]) => value > 0));
    const base = byBlock(over, below);
    const logs = [...byBlock(of, above)].filter(([block]) => base.has(block))
      .map(([block, value]) => Math.log(value / base.get(block))).filter(Number.isFinite);
    const n = logs.length;
    if (!n) return null;
    const mean = logs.reduce((sum, one) => sum + one, 0) / n;
    if (n < FEWEST) return { ratio: Math.exp(mean), n };
    const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1);
    const half = T[Math.min(n - 1, T.length) - 1] * Math.sqrt(variance / n);
    return { ratio: Math.exp(mean), n, low: Math.exp(mean - half), high: Math.exp(mean + half) };
  };

  const clear = () => table.querySelectorAll(".bb-lane .own, .bb-lane .own-far, .bb-own-said").forEach((mark) => mark.remove());
  const draw = (row, found) => {
    const lane = row.querySelector(":scope > .bb-lane");
    for (const one of found.filter(({ ratio }) => ratio >= low && ratio <= high)) {
      const mark = document.createElement("i");
      mark.className = "own";
      mark.style.left = `${at(one.ratio)}%`;
      lane.append(mark);
      if (found.length > 1 || !one.low) continue;
      const bar = document.createElement("i");
      bar.className = "own own-bar";
      bar.style.left = `${at(one.low)}%`;
      bar.style.width = `${Math.max(at(one.high) - at(one.low), 0.4)}%`;
      lane.append(bar);
    }
    const ratios = found.map((one) => one.ratio);
    const label = (side, text) => {
      const mark = document.createElement("i");
      mark.className = "far own-far";
      mark.style[side] = 0;
      mark.textContent = text;
      lane.append(mark);
    };
    const [below, above] = [ratios.filter((one) => one < low), ratios.filter((one) => one > high)]
      .map((held) => held.sort((a, b) => a - b).map(number).join(", "));
    if (below) label("left", `← ${below}`);
    if (above) label("right", `${above} →`);
    const [one] = found;
    const blocks = one.n === 1 ? "1 block" : `${one.n} blocks`;
    const said = document.createElement("small");
    said.className = "bb-own-said";
    said.textContent = found.length > 1
      ? `your run: ${number(Math.min(...ratios))} to ${number(Math.max(...ratios))} in ${found.length} cases`
      : `your run: ${number(one.ratio)} (${one.low ? `95 % CI ${number(one.low)}-${number(one.high)}, ` : ""}${blocks})`;
    row.querySelector(":scope > .bb-verdict").append(said);
  };

  const show = (run) => {
    if (run?.kind !== "benchbook-values" || !Array.isArray(run.trials)) throw new Error("it is not the file values.json of an export");
    if (run.version !== 1) throw new Error(`its version is ${run.version}, and this page reads version 1`);
    if (run.experiment !== table.dataset.experiment)
      throw new Error(`it is a run of ${run.experiment}, and this page is about ${table.dataset.experiment}`);
    clear();
    const rows = [...table.querySelectorAll("[data-cases]")];
    let claims = 0;
    for (const row of rows) {
      const cases = JSON.parse(row.dataset.cases).map((one) => estimate(run, one));
      const found = cases.filter(Boolean);
      if (!found.length) continue;
      claims += 1;
      draw(row, found);
      for (const part of row.querySelectorAll("[data-case]")) {
        const one = cases[part.dataset.case];
        if (one) draw(part, [one]);
      }
    }
    status.textContent = `${run.run_id}, profile ${run.profile}${run.processor ? `, ${run.processor}` : ""}: ${claims} of ${rows.length} claims`
      + " with a ratio have one in this run. Triangle: the geometric mean over its blocks, with a 95 % CI from three blocks on.";
  };
  const read = async (from, get) => {
    status.textContent = "";
    try {
      show(JSON.parse(await get()));
    } catch (error) {
      clear();
      status.textContent = `${from} cannot be shown: ${error instanceof SyntaxError ? "it is not JSON" : error.message}.`;
    }
  };

  // What was dropped: the file, or the folder of an export.
  const values = (entry) => new Promise((resolve, reject) => {
    if (entry.isFile) return entry.file(resolve, reject);
    entry.getFile("values.json", {}, (file) => file.file(resolve, reject),
      () => reject(new Error("the folder has no values.json; export the run again with this version of Benchbook")));
  });
  table.addEventListener("dragover", (event) => event.preventDefault());
  table.addEventListener("drop", (event) => {
    event.preventDefault();
    part.open = true;
    const entry = event.dataTransfer.items[0]?.webkitGetAsEntry?.();
    const file = event.dataTransfer.files[0];
    if (entry || file) read((entry ?? file).name, async () => (entry ? await values(entry) : file).text());
  });
  part.querySelector("input[type=file]").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) read(file.name, () => file.text());
  });
  part.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const named = part.querySelector("input[type=url]").value.trim();
    const address = named.endsWith(".json") ? named : `${named.replace(/\/$/, "")}/values.json`;
    read(address, async () => {
      const answer = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return answer.text();
    });
  });
  part.hidden = false;
}
