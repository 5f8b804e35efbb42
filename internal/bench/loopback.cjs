// Loaded into gateways on Node: those that would listen everywhere listen on loopback, and names of other machines are not found.
const dns = require("node:dns");
const net = require("node:net");

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  if (/^\d+$/.test(String(args[0])) && typeof args[1] !== "string") args.splice(1, args[1] == null ? 1 : 0, "127.0.0.1");
  return listen.apply(this, args);
};

const lookup = dns.lookup;
dns.lookup = function (name, ...rest) {
  if (name === "localhost" || net.isIP(name)) return lookup.call(this, name, ...rest);
  const done = rest[rest.length - 1];
  process.nextTick(done, Object.assign(new Error("not on loopback: " + name), { code: "ENOTFOUND" }));
};
