/** Receivers that verify messages, each in a file of its own. The secret is in the environment. */
export const verificationCode = [
  {
    value: 'node',
    label: 'Node',
    codeLabel: 'Node module',
    hint: 'npm install express standardwebhooks. Or use verifyWebhook of cairn-client/webhooks, which needs no other package.',
    code: `import express from 'express'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.CAIRN_WEBHOOK_SECRET)

express()
  // The bytes as they came: JSON that was parsed and written again can differ.
  .post('/cairn', express.raw({ type: 'application/json' }), (req, res) => {
    let message
    try {
      message = webhook.verify(req.body, req.headers)
    } catch {
      return res.sendStatus(400)
    }
    // Store the message here, once per webhook-id.
    console.log(req.headers['webhook-id'], message.type)
    res.sendStatus(204)
  })
  .listen(4000)
`,
  },
  {
    value: 'python',
    label: 'Python',
    codeLabel: 'Python module',
    hint: 'pip install flask standardwebhooks',
    code: `import os

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["CAIRN_WEBHOOK_SECRET"])


@app.post("/cairn")
def receive():
    try:
        message = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    # Store the message here, once per webhook-id.
    print(request.headers["webhook-id"], message["type"])
    return "", 204
`,
  },
  {
    value: 'by-hand',
    label: 'By hand',
    codeLabel: 'Function for Node',
    hint: 'HMAC-SHA256 over id.timestamp.body, with the base64 after whsec_ as the key. Any language can compute it.',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether Cairn has sent a message, within the last five minutes. body: the bytes as they came, in a Buffer. */
export function isFromCairn(headers, body, secret) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest()
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 5 * 60
  // While a secret is rotated there are several signatures.
  const signatures = String(headers['webhook-signature']).split(' ')
  return isRecent && signatures.some((signature) => {
    const [version, base64 = ''] = signature.split(',')
    const given = Buffer.from(base64, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
`,
  },
]
