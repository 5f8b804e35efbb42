#!/usr/bin/env node
// Starts the program that npm has installed for this platform.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const known = Object.keys(require("../package.json").optionalDependencies);
const wanted = `@toolfit/${platform}`;
let program;
try {
  program = require.resolve(`${wanted}/bin/toolfit${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    known.includes(wanted)
      ? `toolfit: the package ${wanted} is missing\n  → install toolfit again, without --omit=optional or --no-optional, on this machine`
      : `toolfit: there is no package for ${platform}\n  → build it with Go: go install github.com/toolfit/toolfit/cmd/toolfit@latest`,
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends this to the program as well, and being asked twice it would not wait for open calls.
process.on("SIGINT", () => {});
// By the second the gateway reads its configuration again. Windows has neither, but calls a closed window so.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => process.platform === "win32" || child.kill(signal));
child.on("error", (error) => {
  console.error(`toolfit: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
