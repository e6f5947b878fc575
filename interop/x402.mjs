// Buys from a shop that demands payments by x402, with the public client as it is on the
// registry and signers that have no key.
//
// Reads JSON lines {shop, signer, token, address, …} and answers each with {status, body}.
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm";
import { ExactSvmScheme } from "@x402/svm";
import { getTransactionDecoder, getTransactionEncoder } from "@solana/kit";
import { Turnkey } from "@turnkey/sdk-server";
import { createWalletClient, http } from "viem";
import { serve } from "./lines.mjs";

// evmSigner signs through the JSON-RPC signer at a URL.
function evmSigner(url, token, address) {
  const wallet = createWalletClient({
    account: address,
    transport: http(url, { fetchOptions: { headers: { Authorization: `Bearer ${token}` } } }),
  });
  return { address, signTypedData: (data) => wallet.signTypedData(data) };
}

// solanaSigner signs through the API, with the agent's API key.
function solanaSigner(apiBaseUrl, key, address) {
  const client = new Turnkey({
    apiBaseUrl,
    apiPublicKey: key.publicKey,
    apiPrivateKey: key.privateKey,
    defaultOrganizationId: key.organizationId,
  }).apiClient();
  const sign = async (transaction) => {
    const { signedTransaction } = await client.signTransaction({
      signWith: address,
      type: "TRANSACTION_TYPE_SOLANA",
      unsignedTransaction: Buffer.from(getTransactionEncoder().encode(transaction)).toString("hex"),
    });
    const { signatures } = getTransactionDecoder().decode(Buffer.from(signedTransaction, "hex"));
    return { [address]: signatures[address] };
  };
  return { address, signTransactions: (transactions) => Promise.all(transactions.map(sign)) };
}

async function buy(line) {
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [
      { network: "eip155:*", client: new ExactEvmScheme(evmSigner(line.signer, line.token, line.address)) },
      { network: "solana:*", client: new ExactSvmScheme(solanaSigner(line.api, line.key, line.solanaAddress), { rpcUrl: line.solanaNode }) },
    ],
    spendControls: false, // the client's own bounds: those of the policy are tried
  });
  const answer = await pay(line.shop);
  return { status: answer.status, body: await answer.text() };
}

await serve(buy);
