use super::compile::{Command, Node, Task};

/// How far the words of a command have led into its subcommands.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// The nodes that the words can mean, the most exact one first.
    nodes: Vec<&'a Node>,
}

impl<'a> Place<'a> {
    pub(super) fn start(command: &'a Command) -> Self {
        Self { nodes: vec![&command.root] }
    }

    pub(super) fn has_children(&self) -> bool {
        self.nodes.iter().any(|node| node.has_children())
    }

    /// Goes on to the subcommand, if there is one.
    pub(super) fn descend(&mut self, word: &str) -> bool {
        let next: Vec<&Node> = self.nodes.iter().flat_map(|node| node.named(word)).collect();
        if next.is_empty() {
            return false;
        }
        self.nodes = next;
        true
    }

    /// Whether what is done there depends on words that no pattern should stand for.
    pub(super) fn is_never_granted(&self) -> bool {
        self.nodes.iter().any(|node| node.is_never_granted)
            || self.task().is_some_and(|task| task.is_never_granted)
    }

    /// What is done there, if it is known.
    pub(super) fn task(&self) -> Option<&'a Task> {
        let node = self.nodes.iter().find(|node| node.is_other || node.task.is_some())?;
        if node.is_other { None } else { node.task.as_deref() }
    }
}
