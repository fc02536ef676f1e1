// Documents that Python wrote into the folders of states, for tests: one file is checked from both sides.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The documents of `states/` in an instrument's folder, by file name; `schema` says what each is. */
export function statesOf(folder: string): { name: string; document: { schema: string } }[] {
  const states = path.join(folder, 'states');
  return readdirSync(states)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => ({ name, document: JSON.parse(readFileSync(path.join(states, name), 'utf8')) }));
}
