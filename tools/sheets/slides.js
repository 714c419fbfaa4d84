// Starts the slides: equations first, then each slide is made to fit its box, then reveal.js.

(async () => {
  "use strict";
  const SIZE = { width: 1280, height: 720 };
  const SMALLEST = 0.7;  // of the size of type
  const deck = document.querySelector(".reveal");

  await window.MathJax.startup.promise;
  await Promise.all([...document.fonts].map((font) => font.load().catch(() => {})));
  for (const image of deck.querySelectorAll("img")) await image.decode().catch(() => {});

  for (const image of deck.querySelectorAll("figure img")) {
    const tall = image.naturalHeight > 0.75 * image.naturalWidth;
    image.closest("figure").classList.toggle("tall", tall);
  }

  // Too long a line or a page is set a little smaller. How small it may get is tested.
  const overflows = (body) =>
    body.scrollHeight > body.clientHeight || body.scrollWidth > body.clientWidth;
  document.documentElement.classList.add("measuring");
  for (const body of deck.querySelectorAll(".body")) {
    for (let size = 1; overflows(body) && size > SMALLEST; size -= 0.05) {
      body.style.fontSize = `${size.toFixed(2)}em`;
    }
  }
  document.documentElement.classList.remove("measuring");

  await Reveal.initialize({
    ...SIZE,
    margin: 0,
    center: false,
    hash: true,
    slideNumber: "c/t",
    transition: "none",
    controls: false,
    keyboardCondition: (event) => !event.target.closest?.(".explorable"),
    plugins: [RevealNotes],
  });
  document.documentElement.classList.add("ready");
})();
