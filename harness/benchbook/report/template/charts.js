// Draws each figure from its specification, from the top of the page down; the drawing that stands in the page
// stays there for print and for readers without scripts.
const draw = async (figure) => {
  const live = figure.querySelector(".bb-live");
  const specification = JSON.parse(figure.querySelector(".bb-spec").textContent);
  figure.classList.add("is-live");
  try {
    await window.vegaEmbed(live, specification, { mode: "vega-lite", renderer: "svg", actions: false });
  } catch (error) {
    figure.classList.remove("is-live");
    console.error(error);
  }
};
for (const figure of document.querySelectorAll(".bb-figure")) await draw(figure);
