// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';

import { FakeKernel, settled } from './lab_page';
import { type CommState, KernelComm } from '../src/lab/comm';
import type { PageMessage } from '../src/protocol/messages';

const STOP: PageMessage = { type: 'request', id: 'p:1', method: 'stop', params: {} };

function told(comm: KernelComm): CommState[] {
  const states: CommState[] = [];
  comm.changed.connect((_, state) => void states.push(state));
  return states;
}

beforeEach(() => sessionStorage.clear());

test('takes the comm that the kernel opens, and opens none itself', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  expect(comm.state).toBe('none');
  const end = kernel.opens('c1');
  expect(comm.state).toBe('open');
  comm.send(STOP);
  expect(end.sent).toEqual([STOP]);
  const heard: unknown[] = [];
  const stop = comm.onMessage(message => void heard.push(message));
  const hello = { type: 'hello', protocol: 1, version: '0.1.0' } as const;
  // A promise would hold back all later messages of the kernel.
  expect(end.say(hello)).toBeUndefined();
  stop();
  end.say(hello);
  expect(heard).toEqual([hello]);
  expect(end.opens).toBe(0);
});

test('is attached again after a reload of the page, by what the kernel says', async () => {
  const kernel = new FakeKernel();
  kernel.comms = ['c1', 'c2'];
  const comm = new KernelComm(kernel.connection);
  expect(comm.state).toBe('searching');
  await settled();
  expect(comm.state).toBe('open');
  comm.send(STOP);
  expect(kernel.comm('c2').sent).toEqual([STOP]);
  expect(kernel.comm('c2').opens).toBe(0);
});

test('after a reload in the middle of a cell the tab remembers the comm, since the kernel does not answer', async () => {
  const before = new FakeKernel();
  const first = new KernelComm(before.connection);
  before.opens('c1');
  first.dispose();

  const kernel = new FakeKernel();
  kernel.isBusy = true;
  kernel.comms = ['c1'];
  const comm = new KernelComm(kernel.connection);
  expect(comm.state).toBe('open');
  comm.send(STOP);
  expect(kernel.comm('c1').sent).toEqual([STOP]);
  const states = told(comm);
  kernel.becomesFree();
  await settled();
  expect(states).toEqual([]);
  expect(comm.state).toBe('open');
});

test('what the tab remembers wrongly is corrected by the kernel', async () => {
  new KernelComm(new FakeKernel().connection);
  sessionStorage.setItem('agent-magic:comm:k1', 'old');
  const kernel = new FakeKernel();
  kernel.comms = ['new'];
  const comm = new KernelComm(kernel.connection);
  await settled();
  comm.send(STOP);
  expect(kernel.comm('new').sent).toEqual([STOP]);

  sessionStorage.setItem('agent-magic:comm:k1', 'old');
  const other = new KernelComm(new FakeKernel().connection);
  expect(other.state).toBe('open');
  await settled();
  expect(other.state).toBe('none');
  expect(sessionStorage.getItem('agent-magic:comm:k1')).toBeNull();
});

test.each(['restarting', 'autorestarting', 'starting'] as const)('a kernel that is %s drops the comm', async status => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  kernel.opens('c1');
  const states = told(comm);
  kernel.restarts(status);
  expect(comm.state).toBe('connecting');
  comm.send(STOP);
  kernel.becomes('idle');
  await settled();
  expect(states).toEqual(['connecting', 'searching', 'none']);
  const end = kernel.opens('c2');
  comm.send(STOP);
  expect(end.sent).toEqual([STOP]);
});

test('an agent that a restarted kernel loads by itself is found', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  kernel.opens('c1');
  kernel.restarts();
  kernel.comms = ['c2'];
  kernel.becomes('busy');
  await settled();
  expect(comm.state).toBe('open');
});

test('an answer of the kernel from before its restart does not count', async () => {
  const kernel = new FakeKernel();
  kernel.isBusy = true;
  kernel.comms = ['c1'];
  const comm = new KernelComm(kernel.connection);
  const states = told(comm);
  kernel.restarts();
  kernel.comms = ['c1'];
  kernel.becomesFree();
  await settled();
  kernel.comms = [];
  kernel.becomes('idle');
  await settled();
  expect(states).toEqual(['connecting', 'searching', 'none']);
});

test('a comm that the kernel closes is gone; one that it opened after that is not', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  const first = kernel.opens('c1');
  const second = kernel.opens('c2');
  first.onClose();
  expect(comm.state).toBe('open');
  second.onClose();
  expect(comm.state).toBe('none');
});

test('tells that it is open again after the connection was lost, since messages may have been missed', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  kernel.opens('c1');
  const states = told(comm);
  kernel.connects('connecting');
  kernel.connects('connected');
  await settled();
  expect(states).toEqual(['connecting', 'open']);
});

test('a dead kernel has no agent', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  kernel.opens('c1');
  kernel.becomes('dead');
  expect(comm.state).toBe('none');
});

test('says nothing after it was disposed, and leaves the comm to other pages', async () => {
  const kernel = new FakeKernel();
  const comm = new KernelComm(kernel.connection);
  await settled();
  const end = kernel.opens('c1');
  const states = told(comm);
  const heard: unknown[] = [];
  comm.onMessage(message => void heard.push(message));
  comm.dispose();
  end.say({ type: 'hello', protocol: 1, version: '' });
  end.onClose();
  expect([states, heard, end.sent]).toEqual([[], [], []]);
});
