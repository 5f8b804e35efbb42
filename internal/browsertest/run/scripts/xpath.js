// Finds elements by XPath.
(path) => {
  const found = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  return Array.from({ length: found.snapshotLength }, (_, i) => found.snapshotItem(i));
}
