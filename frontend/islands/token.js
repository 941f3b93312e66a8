// The token that tells our own pages from others.
export const token = () => document.querySelector('meta[name="csrf-token"]').content;
