// The field tree of a result: what is ticked below a field is ticked with it, long branches
// fold, and ticks and mask follow each other. What they mean is for the server to say.
const form = document.getElementById("rule");
const tree = form?.querySelector(".tree");
const boxes = () => tree.querySelectorAll("input[type=checkbox]");
const own = (li) => li.querySelector(":scope > .node input");
const below = (li) => li.querySelectorAll(":scope > ul input[type=checkbox]");

// A field of which only a part is ticked is neither on nor off.
function settle() {
  for (const li of [...tree.querySelectorAll("li")].reverse()) {
    const inner = [...li.querySelectorAll(":scope > ul > li")].map(own);
    const box = own(li);
    box.indeterminate = !box.checked && inner.some((b) => b.checked || b.indeterminate);
  }
}

// ticked follows a tick: down to what is in the field, and up to what it is in.
function ticked(box) {
  const li = box.closest("li");
  for (const b of below(li)) b.checked = box.checked;
  for (let up = li.parentElement.closest("li"); up; up = up.parentElement.closest("li")) {
    if (!box.checked) own(up).checked = false;
  }
  settle();
}

function say(source) { form.elements.from.value = source; }

function fold(li, button, closed) {
  li.classList.toggle("closed", closed);
  button.setAttribute("aria-expanded", String(!closed));
}

// Branches deeper than the second level, and very long ones, begin closed.
function addFolds() {
  for (const li of tree.querySelectorAll("li")) {
    const list = li.querySelector(":scope > ul");
    if (!list) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold-mark";
    button.setAttribute("aria-label", own(li).closest("label").textContent.trim());
    li.querySelector(":scope > .node").prepend(button);
    let depth = 0;
    for (let up = li.parentElement.closest("li"); up; up = up.parentElement.closest("li")) depth++;
    fold(li, button, depth > 0 || list.children.length > 40);
    button.addEventListener("click", () => fold(li, button, !li.classList.contains("closed")));
  }
}

// What the server made of the last change: the mask of the ticks, or the ticks of the mask.
function follow(preview) {
  const { from, mask, ticks } = preview.dataset;
  if (from === "ticks") {
    form.elements.way.value = "keep";
    form.elements.expression.value = mask;
  } else if (from === "text" && tree) {
    const ids = new Set(ticks.split(" "));
    for (const b of boxes()) b.checked = ticks === "all" || ids.has(b.value);
    settle();
  }
}

if (form) {
  // Before htmx sends the form, it is known what was changed.
  form.addEventListener("change", (e) => {
    if (e.target.name === "f") {
      ticked(e.target);
      say("ticks");
    } else if (e.target.name === "way" || e.target.name === "expression") {
      say("text");
    }
  }, true);
  form.addEventListener("input", (e) => { if (e.target.name === "expression") say("text"); }, true);
  document.addEventListener("htmx:afterSwap", () => {
    const preview = document.getElementById("preview");
    if (preview) follow(preview);
  });
}
if (tree) {
  addFolds();
  settle();
  const tools = form.querySelector(".tools");
  tools.hidden = false;
  tools.addEventListener("click", (e) => {
    const what = e.target.dataset.tick;
    if (!what) return;
    for (const b of boxes()) b.checked = what === "all";
    settle();
    say("ticks");
    if (what === "all") form.dispatchEvent(new Event("change", { bubbles: true }));
    else tree.querySelector("input").focus();
  });
}
