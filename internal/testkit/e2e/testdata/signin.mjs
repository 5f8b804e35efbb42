// A client of a TypeScript SDK that signs in by itself and calls a tool: signin.mjs URL 1|2.
const [url, line] = process.argv.slice(2);
const back = 'http://127.0.0.1:7/callback';

const sdk = line === '1'
  ? { ...(await import('@modelcontextprotocol/sdk/client/index.js')), ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')) }
  : await import('@modelcontextprotocol/client');

// person follows redirects as a browser does, agrees to what is asked, and returns the redirect that leads to the client.
async function person(start) {
  const jar = new Map();
  let at = start;
  let form;
  for (let i = 0; i < 20; i++) {
    const headers = { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') };
    if (form) headers.origin = new URL(at).origin;
    const resp = await fetch(at, { redirect: 'manual', headers, method: form ? 'POST' : 'GET', body: form });
    form = undefined;
    for (const c of resp.headers.getSetCookie()) {
      const [pair] = c.split(';');
      const eq = pair.indexOf('=');
      if (/expires=Thu, 01 Jan 1970/i.test(c)) jar.delete(pair.slice(0, eq));
      else jar.set(pair.slice(0, eq), pair.slice(eq + 1));
    }
    let next = resp.headers.get('location');
    if (!next) {
      const page = await resp.text();
      const button = page.match(/name="issuer" value="([^"]*)"/);
      const onward = page.match(/content="0; url=([^"]*)"/);
      if (button) {
        form = new URLSearchParams({ issuer: button[1] });
        continue;
      }
      next = onward?.[1].replaceAll('&amp;', '&').replaceAll('&#43;', '+');
    }
    if (!next) throw new Error(`the sign-in ended at ${at} with ${resp.status}`);
    at = new URL(next, at);
    if (at.href.startsWith(back)) return at.searchParams;
  }
  throw new Error('too many redirects');
}

let answered;
const kept = {};
const provider = {
  redirectUrl: back,
  clientMetadata: { client_name: 'test', redirect_uris: [back], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none', application_type: 'native' },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async (at) => { answered = await person(at); },
};

async function connect() {
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const client = new sdk.Client({ name: 'test', version: '1' });
  try {
    await client.connect(transport);
  } catch (e) {
    if (!answered) throw e;
    await transport.finishAuth(line === '1' ? answered.get('code') : answered);
    answered = undefined;
    return connect();
  }
  return client;
}

const client = await connect();
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'test_simple_text', arguments: {} });
console.log(JSON.stringify({ tools: tools.length, text: result.content[0].text }));
await client.close();
