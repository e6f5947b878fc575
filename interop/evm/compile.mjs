// Compiles contracts/*.sol with solc, with imports from npm packages, and prints
// {name: {abi, bytecode}}.
import { readFileSync, readdirSync } from "node:fs";
import solc from "solc";

const here = new URL(".", import.meta.url);
const sources = {};
for (const file of readdirSync(new URL("contracts", here))) {
  sources[file] = { content: readFileSync(new URL(`contracts/${file}`, here), "utf8") };
}
const input = {
  language: "Solidity",
  sources,
  settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
};
const open = (path) => ({ contents: readFileSync(new URL(`node_modules/${path}`, here), "utf8") });
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: open }));
for (const problem of output.errors ?? []) {
  if (problem.severity === "error") throw new Error(problem.formattedMessage);
}
const contracts = {};
for (const file of Object.keys(sources)) {
  for (const [name, { abi, evm }] of Object.entries(output.contracts[file])) {
    contracts[name] = { abi, bytecode: evm.bytecode.object };
  }
}
console.log(JSON.stringify(contracts));
