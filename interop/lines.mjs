// How the scripts of this folder are driven: requests and answers are JSON, one a line.
import { createInterface } from 'node:readline';

// serve answers each line of standard input with what answer returns for it, or with
// {error} if that throws, and exits at the end of the input.
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
