// Verifies signed messages (BIP-137) with bitcoinjs-message.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {message, address, signature}  → {valid}
//
// A request that fails gets {error}.
import bitcoinMessage from 'bitcoinjs-message';
import { serve } from './lines.mjs';

await serve(({ message, address, signature }) => ({ valid: bitcoinMessage.verify(message, address, signature) }));
