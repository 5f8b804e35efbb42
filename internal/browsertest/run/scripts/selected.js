// Describes the elements that a selector has found.
(found) => {
  const visible = (e) => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(e).visibility !== 'hidden';
  };
  const shown = found.filter(visible);
  const e = shown[0] || found[0] || {};
  const attribute = (name) => (e.getAttribute && e.getAttribute(name)) || '';
  const labels = [...(e.labels || [])].map((l) => l.innerText);
  const names = [attribute('aria-label'), attribute('placeholder'), attribute('title'), attribute('alt'), e.innerText, ...labels];
  return {
    count: found.length,
    visible: shown.length,
    names: names.map((n) => (n || '').trim()).filter(Boolean),
    tag: (e.tagName || '').toLowerCase(),
    text: (e.innerText || '').trim(),
    value: String(e.value ?? ''),
    checked: !!e.checked || attribute('aria-checked') === 'true',
    disabled: !!e.disabled || attribute('aria-disabled') === 'true',
  };
}
