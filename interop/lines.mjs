// The protocol of the scripts in this folder: requests and answers are JSON, one per line.
import { createInterface } from 'node:readline';

// serve calls answer for each line of standard input and prints the result, or {error} if
// it throws. It exits at the end of the input.
export async function serve(answer) {
  for await (const line of createInterface({ input: process.stdin })) {
    let result;
    try {
      result = await answer(JSON.parse(line));
    } catch (error) {
      result = { error: String(error?.stack ?? error) };
    }
    process.stdout.write(JSON.stringify(result) + '\n');
  }
  process.exit(0);
}
