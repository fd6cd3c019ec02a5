/** What the phone's window is told. */

export interface TalkDialogProps {
  readonly agentId: string;
  readonly agentName: string;
  readonly onClose: () => void;
}
