// Encodes random arguments for the instructions of a Codama IDL with Codama's own codecs.
// node codama.mjs IDL RUNS prints for each a JSON line {"instruction","data":hex,
// "args":[[name,value]…]}, with the arguments as a reading lists them.
import { readFileSync } from 'node:fs';
import { getNodeCodec } from '@codama/dynamic-codecs';
import * as kit from '@solana/kit';

const [, , file, runs] = process.argv;
const root = JSON.parse(readFileSync(file, 'utf8'));
let seed = 20;
const draw = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % n; };
const address = kit.getAddressDecoder();
const hex = (bytes) => Buffer.from(bytes).toString('hex');

function number(format) {
  if (format === 'shortU16') return [0, 1, 127, 128, 16383, 16384, 65535][draw(7)];
  if (format[0] === 'f') return [0, -2.5, 1.25, 65536][draw(4)];
  const bits = BigInt(format.slice(1));
  let value = 0n;
  for (let i = 0n; i < bits; i += 16n) value = (value << 16n) | BigInt(draw(65536));
  value = BigInt.asUintN(Number(bits), value) >> BigInt(draw(Number(bits)));
  if (format[0] === 'i') value = BigInt.asIntN(Number(bits), draw(2) ? value : ~value);
  return bits > 32n ? value : Number(value);
}

const word = (most) => Array.from({ length: draw(most + 1) }, () => 'abcdefgh é☃'[draw(11)]).join('');

// value generates a value of a type, and adds to args what a reading shows of it.
function value(type, name, args, program, size) {
  const inner = (t, part = name, n) => value(t, part, args, program, n);
  const text = (v) => args.push([name, String(v)]);
  switch (type.kind) {
    case 'numberTypeNode': { const v = number(type.format); text(v); return v; }
    case 'amountTypeNode': case 'solAmountTypeNode': case 'dateTimeTypeNode': return inner(type.number);
    case 'booleanTypeNode': { const v = draw(2) === 1; text(v); return v; }
    case 'publicKeyTypeNode': { const v = address.decode(new Uint8Array(32).map(() => draw(256))); text(v); return v; }
    case 'stringTypeNode': {
      if (type.encoding !== 'utf8') { text('0x'); return ''; }
      const v = size ? 'abcdefghij'.slice(0, draw(size + 1)) : word(12);
      text(v);
      return v;
    }
    case 'bytesTypeNode': {
      const v = Buffer.from(Array.from({ length: size ?? 0 }, () => draw(256)));
      text('0x' + hex(v));
      return ['base16', hex(v)];
    }
    case 'fixedSizeTypeNode': return inner(type.type, name, type.size);
    case 'sizePrefixTypeNode': case 'sentinelTypeNode': case 'hiddenPrefixTypeNode': case 'hiddenSuffixTypeNode': return inner(type.type);
    case 'structTypeNode': return Object.fromEntries((type.fields ?? []).map((f) => [f.name, inner(f.type, name ? `${name}.${f.name}` : f.name)]));
    case 'tupleTypeNode': return type.items.map((t, i) => inner(t, `${name}.${i}`));
    case 'optionTypeNode': case 'zeroableOptionTypeNode': case 'remainderOptionTypeNode':
      if (draw(2)) { text('none'); return { __option: 'None' }; }
      return { __option: 'Some', value: inner(type.item) };
    case 'arrayTypeNode': case 'setTypeNode': {
      const count = type.count.kind === 'fixedCountNode' ? type.count.value : draw(4);
      return Array.from({ length: count }, (_, i) => inner(type.item, `${name}.${i}`));
    }
    case 'mapTypeNode': {
      const pairs = new Map();
      for (let i = draw(4); i > 0; i--) {
        const key = `${'k'.repeat(i)}`;
        args.push([`${name}.${pairs.size}.key`, key]);
        pairs.set(key, inner(type.value, `${name}.${pairs.size}.value`));
      }
      return Object.fromEntries(pairs);
    }
    case 'enumTypeNode': {
      const v = type.variants[draw(type.variants.length)];
      text(v.name);
      const kind = v.name[0].toUpperCase() + v.name.slice(1);
      if (v.kind === 'enumEmptyVariantTypeNode') return type.variants.some((o) => o.kind !== v.kind) ? { __kind: kind } : v.name;
      if (v.kind === 'enumStructVariantTypeNode') return { __kind: kind, ...inner(v.struct, `${name}.${v.name}`) };
      return { __kind: kind, fields: inner(v.tuple, `${name}.${v.name}`) };
    }
    case 'definedTypeLinkNode': {
      const of = type.program ? [root.program, ...root.additionalPrograms].find((p) => p.name === type.program.name) : program;
      return value(of.definedTypes.find((d) => d.name === type.name).type, name, args, of, size);
    }
  }
  throw new Error(type.kind);
}

for (const instruction of root.program.instructions) {
  // Skip those with unsupported types, and those whose discriminator is a random argument.
  if (['padded', 'constant'].includes(instruction.name)) continue;
  const codec = getNodeCodec([root, root.program, instruction]);
  const marks = instruction.discriminators.map((d) => d.name);
  for (let run = 0; run < runs; run++) {
    const args = [];
    const input = {};
    for (const argument of instruction.arguments) {
      const { type, defaultValue } = argument;
      if (marks.includes(argument.name)) input[argument.name] = defaultValue.number ?? [defaultValue.encoding, defaultValue.data];
      else input[argument.name] = value(type, argument.name, args, root.program);
    }
    process.stdout.write(JSON.stringify({ instruction: instruction.name, data: hex(codec.encode(input)), args }) + '\n');
  }
}
