// Finds elements by CSS, also in open shadow roots, as the server does.
(css) => {
  const found = [];
  const walk = (root) => {
    found.push(...root.querySelectorAll(css));
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
    }
  };
  walk(document);
  return found;
}
