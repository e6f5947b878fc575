// The wire protocol: digests, passkey stamps, requests.

const encoder = new TextEncoder();

export const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

export const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

export const digestOf = async (text) => hex(await sha256(encoder.encode(text)));

// shownDigest is what a vote commits to: SHA-256 over the digests of the summary, of
// the key ids, joined by line feeds, of the effects, and of the readings.
export async function shownDigest(review) {
  const parts = await Promise.all([review.summary, review.keyIds.join("\n"), review.effects, review.readings].map((text) => sha256(encoder.encode(text))));
  const joined = new Uint8Array(32 * parts.length);
  parts.forEach((part, i) => joined.set(part, 32 * i));
  return hex(await sha256(joined));
}

// stampOf asks for a touch and returns the stamp of a body. The challenge is the SHA-256 of
// the body, in hex.
async function stampOf(body, rpId) {
  const assertion = await navigator.credentials.get({
    publicKey: { challenge: encoder.encode(await digestOf(body)), rpId, userVerification: "required", timeout: 120000 },
  });
  return JSON.stringify({
    credentialId: base64url(assertion.rawId),
    authenticatorData: base64url(assertion.response.authenticatorData),
    clientDataJson: base64url(assertion.response.clientDataJSON),
    signature: base64url(assertion.response.signature),
  });
}

// signed stamps a body and returns a function that sends it. The function may be called
// again if the answer was lost, or to refresh it.
export async function signed(path, content, rpId) {
  const body = JSON.stringify(content);
  const stamp = await stampOf(body, rpId);
  return async () => {
    const response = await fetch("/public/v1/" + path, {
      method: "POST", body, headers: { "Content-Type": "application/json", "X-Stamp-Webauthn": stamp },
      credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(why(answer) || "HTTP status " + response.status);
    return answer;
  };
}

// why returns why a request was refused. A stamp that does not verify is nearly always a
// passkey of another organization, or one that the server does not know yet.
function why(answer) {
  if (answer.turnkeyErrorCode === "SIGNATURE_INVALID") return "The stamp does not verify: this passkey is not registered in this organization, or the server has not been reloaded since.";
  return answer.message;
}

// newPasskey creates a discoverable passkey, and returns what the configuration needs.
export async function newPasskey(name, rpId) {
  const credential = await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: "Countersign" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    },
  });
  return { id: base64url(credential.rawId), publicKey: base64url(credential.response.getPublicKey()) };
}
