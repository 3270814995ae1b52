// engines: none (opens no store)

import { expect, it } from 'vitest'
import { isInside, isPublic, type Network, readNetwork } from '../../server/webhooks/networks.ts'

it.each([
  '1.1.1.1',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '223.255.255.255',
  '::ffff:93.184.216.34',
  '::FFFF:5DB8:D822',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
])('takes %s as public', (address) => {
  expect(isPublic(address)).toBe(true)
})

it.each([
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['shared by carriers', '100.64.0.1'],
  ['shared by carriers', '100.127.255.255'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local, metadata of clouds', '169.254.169.254'],
  ['metadata of Azure', '168.63.129.16'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['protocol assignments', '192.0.0.192'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['6to4 relay', '192.88.99.1'],
  ['benchmarks', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-compatible, public inside', '::93.184.216.34'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped', '::ffff:7f00:1'],
  ['IPv4-mapped', '0:0:0:0:0:ffff:a9fe:a9fe'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['local NAT64', '64:ff9b:1::10.0.0.1'],
  ['6to4', '2002:7f00:1::'],
  ['6to4', '2002:a9fe:a9fe::1'],
  ['Teredo', '2001:0:5db8:d822::f5ff:fffe'],
  ['discard', '100::1'],
  ['dummy', '100:0:0:1::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['segment routing', '5f00::1'],
  ['unassigned', '4000::1'],
  ['unique local', 'fd00:ec2::254'],
  ['unique local', 'fc00::1'],
  ['link-local', 'fe80::1'],
  ['link-local, with an interface', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['not an address', 'example.com'],
  ['not an address', '0177.0.0.1'],
  ['not an address', ''],
])('does not take as public: %s, %s', (_, address) => {
  expect(isPublic(address)).toBe(false)
})

it('finds an address in a network of its family, also as an IPv4-mapped one', () => {
  const networks = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1'].map((text) => readNetwork(text) as Network)
  for (const address of ['10.255.0.1', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::1', '::1']) {
    expect(isInside(address, networks)).toBe(true)
  }
  for (const address of ['11.0.0.1', '127.0.0.2', '::ffff:127.0.0.2', 'fc00::1', '::2', '::', 'localhost']) {
    expect(isInside(address, networks)).toBe(false)
  }
  expect(isInside('10.0.0.1', [])).toBe(false)
})

it.each([
  '',
  'localhost',
  '10/8',
  '010.0.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '::/129',
  '::ffff:10.0.0.0/104',
  'fe80::1%eth0',
  '1.2.3.4/8/8',
])('refuses what is not a network: %j', (text) => {
  expect(readNetwork(text)).toBeUndefined()
})
