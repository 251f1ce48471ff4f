// Draws each figure from its specification when it comes near the window; the drawing in the page stays
// for print and for readers without scripts.
const draw = (figure) => {
  const live = figure.querySelector(".bb-live");
  const specification = JSON.parse(figure.querySelector(".bb-spec").textContent);
  figure.classList.add("is-live");
  return window
    .vegaEmbed(live, specification, { mode: "vega-lite", renderer: "svg", actions: false })
    .catch((error) => {
      figure.classList.remove("is-live");
      console.error(error);
    });
};
const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: "600px" },
);
for (const figure of document.querySelectorAll(".bb-figure")) near.observe(figure);
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const box of opened) box.open = true;
});
window.addEventListener("afterprint", () => {
  for (const box of opened) box.open = false;
});
