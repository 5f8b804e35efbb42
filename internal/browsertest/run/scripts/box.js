// Where an element is in the screenshot, also inside frames of the same origin.
(e) => {
  const box = e.getBoundingClientRect();
  let x = box.x, y = box.y;
  try {
    for (let w = e.ownerDocument.defaultView; w.frameElement; w = w.parent) {
      const f = w.frameElement.getBoundingClientRect();
      x += f.x; y += f.y;
    }
  } catch { return { w: 0 }; }
  return { x: Math.round(x), y: Math.round(y), w: Math.round(box.width), h: Math.round(box.height) };
}
