import { Chat } from '../chat/chat';
import { Client } from '../protocol/client';
import type { Place } from './run';

/** Show the chat with the agent at the other end of `transport`. Returns how to dispose of it. */
export function renderChat({ transport, element }: Place): () => void {
  const client = new Client(transport, 'widget');
  const chat = new Chat(element, client);
  return () => {
    chat.dispose();
    client.dispose();
  };
}
