// Serializes and signs Ethereum transactions with viem and with ethers.
//
// Reads JSON lines {privateKey, tx} and answers each with
// {viem: {unsigned, signed}, ethers: {unsigned, signed}}, all in hex. The members of tx
// are those of JSON-RPC (eth_sendTransaction), with a type from 0 to 4.
import { Signature, Transaction, Wallet } from "ethers";
import { serializeTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { serve } from "./lines.mjs";

const viemTypes = ["legacy", "eip2930", "eip1559", "eip4844", "eip7702"];

// The members that are amounts: decimal strings in JSON.
const amounts = ["gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas", "value"];

function withAmounts(tx) {
  const out = { ...tx };
  for (const name of amounts) {
    if (name in out) out[name] = BigInt(out[name]);
  }
  return out;
}

async function withViem(privateKey, tx) {
  const request = { ...withAmounts(tx), type: viemTypes[tx.type] };
  const account = privateKeyToAccount(privateKey);
  return { unsigned: serializeTransaction(request), signed: await account.signTransaction(request) };
}

async function withEthers(privateKey, tx) {
  const { gas, authorizationList, ...fields } = withAmounts(tx);
  const transaction = Transaction.from({
    ...fields,
    gasLimit: gas,
    ...(authorizationList && {
      authorizationList: authorizationList.map(({ r, s, yParity, ...tuple }) => ({
        ...tuple,
        signature: Signature.from({ r, s, yParity }),
      })),
    }),
  });
  const unsigned = transaction.unsignedSerialized;
  transaction.signature = new Wallet(privateKey).signingKey.sign(transaction.unsignedHash);
  return { unsigned, signed: transaction.serialized };
}

await serve(async ({ privateKey, tx }) => ({ viem: await withViem(privateKey, tx), ethers: await withEthers(privateKey, tx) }));
