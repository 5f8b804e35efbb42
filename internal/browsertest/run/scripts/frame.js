// Names of a frame.
(e) => {
  const ids = (e.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => id && e.getRootNode().getElementById(id));
  const caption = e.closest('figure') && e.closest('figure').querySelector('figcaption');
  const labels = [...ids, caption].map((c) => c && c.textContent);
  const names = [e.title, e.getAttribute('name'), e.getAttribute('aria-label'), ...labels];
  return { names: names.map((n) => (n || '').trim()).filter(Boolean) };
}
