// Talks with an agent through the official client, streamed and not, and prints what it got.
import {createRequire} from 'node:module';
const require = createRequire(process.env.PARTS + '/package.json');
const OpenAI = require('openai').default ?? require('openai');

const client = new OpenAI({baseURL: process.env.BASE_URL + '/v1', apiKey: process.env.KEY || 'none', maxRetries: 2});
const messages = [{role: 'user', content: '帮我读取 test.xlsx 的 Sheet1 工作表'}];
const out = {};

out.models = (await client.models.list()).data.map((m) => m.id);

const whole = await client.chat.completions.create({model: 'helper', messages});
out.whole = {text: whole.choices[0].message.content, finish: whole.choices[0].finish_reason, total: whole.usage.total_tokens > 0, session: whole.toolfit.session};

let text = '';
const calls = [];
const stream = await client.chat.completions.create({model: 'helper', messages, stream: true, stream_options: {include_usage: true}});
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? '';
  if (chunk.toolfit?.call) calls.push(chunk.toolfit.call.status);
  if (chunk.choices[0]?.finish_reason) out.finish = chunk.choices[0].finish_reason;
  if (chunk.usage) out.usage = chunk.usage.total_tokens > 0;
}
out.streamed = text;
out.calls = calls;

const helped = client.chat.completions.stream({model: 'helper', messages});
out.helper = (await helped.finalChatCompletion()).choices[0].message.content;

const next = await client.chat.completions.create({model: 'helper', messages: [{role: 'user', content: 'again'}], metadata: {session: whole.toolfit.session}});
out.continued = next.toolfit.session === whole.toolfit.session;

for (const [name, body] of Object.entries({
  unknown: {model: 'nobody', messages},
  tools: {model: 'helper', messages, tools: [{type: 'function', function: {name: 'x'}}]},
  broken: {model: 'broken', messages},
  brokenStream: {model: 'broken', messages, stream: true},
})) {
  try {
    const answer = await client.chat.completions.create(body);
    if (body.stream) for await (const _ of answer);
    out[name] = 'no error';
  } catch (e) {
    out[name] = `${e.constructor.name} ${e.status} ${e.code} ${e.message}`;
  }
}
console.log(JSON.stringify(out));
