"""What is kept on disk: transcripts, branches, replay and trace."""
