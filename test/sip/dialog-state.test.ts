/** The state of dialogs: where its requests go and what they carry. */
import { describe, expect, test } from 'vitest';
import {
  clientDialogState,
  requestInDialog,
  serverDialogState,
  withAnswer,
  withTarget,
} from '../../src/sip/dialog/dialog-core.ts';
import { idsOf, type SipMessage } from '../../src/sip/message/message.ts';
import { nextHopUri } from '../../src/sip/transport/next-hop.ts';
import { request, responseTo } from './messages.ts';

const stateOf = (invite: SipMessage) => serverDialogState(invite, idsOf(invite), 'ours', 100);

const LOOSE = '<sip:p1.example.com;lr>, <sip:p2.example.com;lr>';

describe('serverDialogState', () => {
  test('takes tags, target and route from the request', () => {
    const invite = request('INVITE', { 'Record-Route': LOOSE, CSeq: '7 INVITE' });

    const state = stateOf(invite);

    expect(state).toMatchObject({
      localTag: 'ours',
      remoteTag: 'from',
      localAddress: '<sip:agent@192.0.2.2>;tag=ours',
      remoteAddress: '<sip:caller@192.0.2.1>;tag=from',
      remoteTarget: 'sip:caller@192.0.2.1:5060',
      routeSet: ['<sip:p1.example.com;lr>', '<sip:p2.example.com;lr>'],
      remoteSequence: 7,
      isInitiator: false,
    });
  });
});

describe('clientDialogState', () => {
  test('turns the route of the response round', () => {
    const invite = request('INVITE');
    const ringing = responseTo(invite, 180, {
      'Record-Route': LOOSE,
      Contact: '<sip:callee@198.51.100.1>',
    });

    const state = clientDialogState(invite, ringing);

    expect(state).toMatchObject({
      localTag: 'from',
      remoteTag: 'to',
      remoteTarget: 'sip:callee@198.51.100.1',
      routeSet: ['<sip:p2.example.com;lr>', '<sip:p1.example.com;lr>'],
      remoteSequence: null,
      isInitiator: true,
    });
  });

  test('withAnswer takes route and target of the 2xx', () => {
    const invite = request('INVITE');
    const early = clientDialogState(invite, responseTo(invite, 180, { 'Record-Route': LOOSE }));

    const state = withAnswer(early, responseTo(invite, 200, { Contact: '<sip:new@198.51.100.2>' }));

    expect(state.routeSet).toEqual([]);
    expect(state.remoteTarget).toBe('sip:new@198.51.100.2');
  });
});

describe('requestInDialog', () => {
  const stateWithRoute = (route: string) => stateOf(request('INVITE', { 'Record-Route': route }));

  test('goes by the loose routers to the target', () => {
    const bye = requestInDialog(stateWithRoute(LOOSE), 'BYE', 101);

    expect(bye.uri).toBe('sip:caller@192.0.2.1:5060');
    expect(bye.list('route')).toEqual(['<sip:p1.example.com;lr>', '<sip:p2.example.com;lr>']);
    expect(nextHopUri(bye)).toBe('sip:p1.example.com;lr');
    expect(bye.get('cseq')).toBe('101 BYE');
  });

  test('has a strict router in its URI and the target last in the route', () => {
    const state = stateWithRoute('<sip:p1.example.com?Subject=x>, <sip:p2.example.com;lr>');

    const bye = requestInDialog(state, 'BYE', 101);

    expect(bye.uri).toBe('sip:p1.example.com');
    expect(bye.list('route')).toEqual(['<sip:p2.example.com;lr>', '<sip:caller@192.0.2.1:5060>']);
  });

  test('goes straight to the target without a route', () => {
    const state = stateOf(request('INVITE'));

    const bye = requestInDialog(state, 'BYE', 101);

    expect(nextHopUri(bye)).toBe('sip:caller@192.0.2.1:5060');
    expect(bye.get('route')).toBeUndefined();
  });

  test('follows a target refresh', () => {
    const state = stateOf(request('INVITE'));

    const moved = withTarget(state, request('INVITE', { Contact: '<sip:caller@192.0.2.77>' }));

    expect(requestInDialog(moved, 'INFO', 102).uri).toBe('sip:caller@192.0.2.77');
  });

  test('treats an unroutable route as loose', () => {
    const bye = requestInDialog(stateWithRoute('<tel:+15550100>'), 'BYE', 101);

    expect(bye.uri).toBe('sip:caller@192.0.2.1:5060');
  });
});
