// Lists the controls without a name: what their source says, and a selector that matches each alone.
() => {
  const quote = (s) => CSS.escape(s);
  const alone = (s) => document.querySelectorAll(s).length === 1;
  const path = (e) => {
    const parts = [];
    for (; e && e !== document.documentElement; e = e.parentElement) {
      if (e.id && alone('#' + quote(e.id))) { parts.unshift('#' + quote(e.id)); break; }
      const same = e.parentElement ? [...e.parentElement.children].filter((c) => c.tagName === e.tagName) : [e];
      parts.unshift(e.tagName.toLowerCase() + (same.length > 1 ? ':nth-of-type(' + (same.indexOf(e) + 1) + ')' : ''));
    }
    return parts.join(' > ');
  };
  const modal = [...document.querySelectorAll(':modal, [aria-modal=true]')].filter((d) => d.getBoundingClientRect().height > 0).pop();
  const precedes = (e) => modal.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING;
  const behind = (e) => modal && !modal.contains(e) && (modal.matches(':modal') || precedes(e));
  const roles = { A: 'link', BUTTON: 'button', INPUT: 'textbox', SELECT: 'combobox', TEXTAREA: 'textbox', IMG: 'img', SVG: 'img' };
  const out = [];
  for (const e of document.querySelectorAll('a,button,input,select,textarea,[role],[onclick],[tabindex],svg,i,img,span,div')) {
    const box = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    if (out.length >= 300 || behind(e) || box.width === 0 || box.height === 0 || style.visibility === 'hidden') continue;
    const tag = e.tagName.toUpperCase();
    const isControl = ['A', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA'].includes(tag);
    const acts = isControl || e.hasAttribute('onclick') || e.hasAttribute('role') || style.cursor === 'pointer';
    const inner = e.parentElement && e.parentElement.closest('a,button,[role=button],[onclick]');
    const attribute = (name) => e.getAttribute(name) || '';
    const named = (e.innerText || '').trim() || attribute('aria-label') || attribute('title') || attribute('placeholder');
    if (!acts || inner || named) continue;
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(tag) && e.labels && e.labels.length) continue;
    const drawn = e.querySelector('use');
    const within = [...e.querySelectorAll('*')].slice(0, 5).map((c) => c.getAttribute('class') || '').join(' ');
    out.push({
      selector: path(e),
      role: attribute('role') || roles[tag] || 'generic',
      id: e.id || '',
      class: attribute('class') + ' ' + within,
      name: attribute('name'),
      title: attribute('alt'),
      testid: attribute('data-testid') || attribute('data-test'),
      href: (drawn && (drawn.getAttribute('href') || drawn.getAttribute('xlink:href'))) || attribute('href'),
    });
  }
  return out;
}
