// The lab: stand-ins for what a test cannot own (a vendor's CLI, a vendor's cloud), and runners for the real ones.
export { labAgentFile, mockServerFile } from './lab-files.ts';
