// How everything looks: Mantine's default theme, whose variables come from its style file; writing others needs a style tag.
import { createTheme, type ModalProps } from '@mantine/core';

const modal: Partial<ModalProps> = {
  // Locking the scroll bar writes a style tag.
  lockScroll: false,
  closeButtonProps: { 'aria-label': 'Close' },
};

export const theme = createTheme({
  cursorType: 'pointer',
  respectReducedMotion: true,
  // By name: the component itself is loaded with the first dialog.
  components: { Modal: { defaultProps: modal } },
});
