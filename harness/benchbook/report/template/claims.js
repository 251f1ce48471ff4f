// Filters the rows of the table of claims by system, metric, answer and configuration. The choice is in the address, so
// that a link leads to the same rows. Without scripts, all rows stay visible.
for (const table of document.querySelectorAll(".bb-claim-table")) {
  const rows = [...table.querySelectorAll("[data-claim]")].map((row) => [row, JSON.parse(row.dataset.claim)]);
  const form = table.querySelector(".bb-filter");
  const status = table.querySelector(".bb-filtered");
  const labels = { system: "System", metric: "Metric", answer: "Answer", configuration: "Configuration" };
  const chosen = () => new URLSearchParams(location.search);
  const selects = Object.entries(labels).flatMap(([name, label]) => {
    const values = [...new Set(rows.flatMap(([, held]) => held[name]))].sort();
    if (values.length < 2) return [];
    const select = document.createElement("select");
    select.name = name;
    select.append(...["", ...values].map((value) => new Option(value || "all", value)));
    const named = document.createElement("label");
    named.append(`${label} `, select);
    form.append(named);
    return [select];
  });
  const apply = () => {
    const wanted = selects.filter((select) => select.value);
    let shown = 0;
    for (const [row, held] of rows) {
      row.hidden = !wanted.every((select) => held[select.name].includes(select.value));
      shown += !row.hidden;
    }
    status.textContent = `${shown} of ${rows.length} claims`;
    status.hidden = !wanted.length;
  };
  const read = () => {
    const address = chosen();
    for (const select of selects) {
      const value = address.get(select.name) ?? "";
      select.value = [...select.options].some((option) => option.value === value) ? value : "";
    }
    apply();
  };
  form.addEventListener("change", () => {
    const address = chosen();
    for (const select of selects) select.value ? address.set(select.name, select.value) : address.delete(select.name);
    history.replaceState(null, "", `${location.pathname}${address.size ? `?${address}` : ""}${location.hash}`);
    apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", read);
  form.hidden = !selects.length || rows.length < 2;
  read();
}
