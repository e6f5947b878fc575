// Signs through a JSON-RPC remote signer with viem and ethers as they are: an account that
// the node holds.
import { createWalletClient, custom, defineChain, http } from "viem";
import { FetchRequest, JsonRpcProvider, JsonRpcSigner, Network } from "ethers";
import { serve } from "./lines.mjs";

// A text that is known, of a template that ships.
const login = "Please sign this message to connect to Foundation.";

const typed = {
  domain: { name: "Mail", chainId: 1 },
  types: { Mail: [{ name: "text", type: "string" }] },
  primaryType: "Mail",
  message: { text: "hello" },
};

// viem asks over HTTP with a bearer token, and over a transport of the program's own.
async function viem(url, token, address, transport) {
  const chain = defineChain({ id: 1, name: "one", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 }, rpcUrls: { default: { http: [url] } } });
  const headers = { Authorization: `Bearer ${token}` };
  const own = custom({
    async request({ method, params }) {
      const response = await fetch(url, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
      const answer = await response.json();
      if (answer.error) throw new Error(answer.error.message);
      return answer.result;
    },
  });
  const client = createWalletClient({ account: address, chain, transport: transport === "custom" ? own : http(url, { fetchOptions: { headers } }) });
  const base = { to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", value: 123n, nonce: 7, gas: 60000n };
  return {
    accounts: await client.getAddresses(),
    transactions: {
      dynamic: await client.signTransaction({ ...base, maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n }),
      legacy: await client.signTransaction({ ...base, gasPrice: 20000000000n, type: "legacy" }),
    },
    text: await client.signMessage({ message: login }),
    typed: await client.signTypedData(typed),
  };
}

// ethers asks over HTTP with the token as the password of the URL.
async function ethers(url, token, address) {
  const request = new FetchRequest(url);
  request.setCredentials("any", token);
  request.allowInsecureAuthentication = true;
  const provider = new JsonRpcProvider(request, Network.from(1), { staticNetwork: true });
  const signer = new JsonRpcSigner(provider, address);
  try {
    return {
      accounts: await provider.send("eth_accounts", []),
      text: await provider.send("personal_sign", [`0x${Buffer.from(login).toString("hex")}`, address.toLowerCase()]),
      message: await signer.signMessage(login),
      typed: await signer.signTypedData(typed.domain, typed.types, typed.message),
    };
  } finally {
    provider.destroy();
  }
}

await serve((asked) => (asked.client === "viem" ? viem(asked.url, asked.token, asked.address, asked.transport) : ethers(asked.url, asked.token, asked.address)));
