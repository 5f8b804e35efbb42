// Whether the label with a text belongs to another element.
(e, label) => {
  const text = (s) => (s || '').replace(/\s+/g, '');
  const labels = [...e.getRootNode().querySelectorAll('label')].filter((l) => text(l.textContent) === text(label));
  return { others: labels.length > 0 && labels.every((l) => l.htmlFor && l.control !== e) };
}
