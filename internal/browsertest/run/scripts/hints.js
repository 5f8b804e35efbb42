// Lists what a snapshot does not show: the controls without a name, with what their source says, and pieces of
// text inside of others, with their words. Each has a selector that matches it alone.
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
  const handled = (e) => {
    const kept = window.jQuery && jQuery._data && jQuery._data(e, 'events');
    const props = Object.keys(e).find((k) => k.startsWith('__reactProps$'));
    return !!(e.onclick || (kept && kept.click) || (props && e[props].onClick) || (e._vei && e._vei.onClick) || e.__onclick);
  };
  const inlines = 'b,em,strong,u,mark,code,small,font';
  const out = [];
  for (const e of document.querySelectorAll('a,button,input,select,textarea,[role],[onclick],[tabindex],svg,i,img,span,div,' + inlines)) {
    const box = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    if (out.length >= 300 || behind(e) || box.width === 0 || box.height === 0 || style.visibility === 'hidden') continue;
    const tag = e.tagName.toUpperCase();
    const isControl = ['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA'].includes(tag) || (tag === 'A' && e.hasAttribute('href'));
    const acts = isControl || e.hasAttribute('onclick') || e.hasAttribute('role') || style.cursor === 'pointer';
    const inner = e.parentElement && e.parentElement.closest('a,button,[role=button],[onclick]');
    const attribute = (name) => e.getAttribute(name) || '';
    const named = (e.innerText || '').trim() || attribute('aria-label') || attribute('title') || attribute('placeholder');
    const isPiece = named && !isControl && !e.hasAttribute('role') && style.display.startsWith('inline') && !e.closest('a[href],button,[role]');
    if (isPiece && e.children.length === 0) {
      const drawn = style.cursor === 'pointer' || style.textDecorationLine.includes('underline');
      const names = [(e.innerText || '').trim(), attribute('title'), attribute('aria-label')].filter((n) => n && n.length <= 80);
      out.push({ selector: path(e), element: e, role: 'generic', names, acts: drawn || e.hasAttribute('tabindex') || handled(e) });
      continue;
    }
    if (!acts || inner || named) continue;
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(tag) && e.labels && e.labels.length) continue;
    const drawn = e.querySelector('use');
    const within = [...e.querySelectorAll('*')].slice(0, 5).map((c) => c.getAttribute('class') || '').join(' ');
    out.push({
      selector: path(e),
      element: e,
      role: attribute('role') || roles[tag] || 'generic',
      id: e.id || '',
      class: attribute('class') + ' ' + within,
      name: attribute('name'),
      title: attribute('alt'),
      testid: attribute('data-testid') || attribute('data-test'),
      href: (drawn && (drawn.getAttribute('href') || drawn.getAttribute('xlink:href'))) || attribute('href'),
    });
  }
  const looks = (h) => [h.role, h.names, h.class, h.title, h.href].join();
  for (const h of out) { // the texts of the box that has no other one like it
    const others = out.filter((o) => o !== h && looks(o) === looks(h));
    let box = h.element;
    while (box.parentElement && !others.some((o) => box.parentElement.contains(o.element))) box = box.parentElement;
    const texts = others.length ? [...box.querySelectorAll('*')].filter((c) => c.children.length === 0).map((c) => c.textContent.trim()) : [];
    h.near = texts.filter((t) => t && t.length <= 80).slice(0, 40);
  }
  return out.map(({ element, ...h }) => h);
}
