// Judges YAML files by a JSON Schema, as editors do.
import Ajv from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { serve } from './lines.mjs';

const schemas = new Map();

// judge returns what the schema has against a text; nothing if it takes it.
function judge(schema, text) {
  if (!schemas.has(schema)) schemas.set(schema, new Ajv.default({ allowUnionTypes: true }).compile(JSON.parse(schema)));
  const validate = schemas.get(schema);
  let value;
  try {
    value = parse(text);
  } catch (error) {
    return `not YAML: ${error.message}`;
  }
  return validate(value) ? '' : JSON.stringify(validate.errors);
}

await serve(({ schema, texts }) => texts.map((text) => judge(schema, text)));
