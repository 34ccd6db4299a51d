import connect from 'connect'
import { createServer, gateway } from 'wireglot/connect'

const app = connect()
app.use(gateway({ channels: [{ name: 'demo', embedded: 'demo' }] }))
app.use((_request, response) => response.writeHead(404).end('not a path of the gateway'))
createServer(app).listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1')
