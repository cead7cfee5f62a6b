//! From a script's grammar to its commands, following the directory they run in.

use super::Analysis;
use super::directory::Current;
use super::standard_input::StandardInput;
use crate::catalog::Word;
use crate::syntax::{Unreadable, is_constant, scan_document};
use brush_parser::ast::{
    AndOr, AndOrList, Command, CompoundCommand, CompoundList, ExtendedTestExpr, FunctionDefinition,
    IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, Program, RedirectList, SeparatorOperator,
    SubshellCommand, UnexpandedArithmeticExpr,
};

type Read = Result<(), Unreadable>;

impl Analysis<'_> {
    pub(super) fn program(&mut self, program: &Program) -> Read {
        program.complete_commands.iter().try_for_each(|list| self.list(list))
    }

    fn list(&mut self, list: &CompoundList) -> Read {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.apart(|analysis| analysis.and_or(&item.0))?,
                SeparatorOperator::Sequence => self.and_or(&item.0)?,
            }
        }
        Ok(())
    }

    /// Reads what runs in a process of its own, so that it does not change the directory of what comes after it.
    fn apart(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let current = self.current.clone();
        let result = read(self);
        self.current = current;
        result
    }

    /// Reads what may run or not. Where it changes the directory, that is not known afterwards.
    fn maybe(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let current = self.current.clone();
        read(self)?;
        if self.current != current {
            self.current = Current::Unknown;
        }
        Ok(())
    }

    /// Reads what may run several times, each time in the directory in which the last time ended.
    fn again(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let (current, constants) = (self.current.clone(), self.constants.len());
        read(self)?;
        // What becomes a constant may have been set before in the text, and is set after it the next time.
        self.leaves |= self.constants.len() > constants;
        if self.current != current {
            self.current = Current::Unknown;
            self.opaque("a loop changes the directory");
        }
        Ok(())
    }

    fn and_or(&mut self, list: &AndOrList) -> Read {
        self.pipeline(&list.first)?;
        let first = self.current.clone();
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => self.pipeline(pipeline)?,
                AndOr::Or(pipeline) => {
                    self.current.may_have_failed();
                    self.pipeline(pipeline)?;
                }
            }
        }
        if !list.additional.is_empty() && self.current != first {
            self.current = Current::Unknown;
        }
        self.current.may_have_failed();
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Read {
        match pipeline.seq.as_slice() {
            [command] => self.command(command),
            commands => {
                commands.iter().try_for_each(|command| self.apart(|analysis| analysis.command(command)))
            }
        }
    }

    fn command(&mut self, command: &Command) -> Read {
        match command {
            Command::Simple(command) => self.simple(command),
            Command::Compound(command, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.compound(command)
            }
            Command::Function(function) => self.function(function),
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.test(&test.expr)
            }
        }
    }

    fn compound(&mut self, command: &CompoundCommand) -> Read {
        match command {
            CompoundCommand::Arithmetic(command) => {
                self.arithmetic(&command.expr);
                Ok(())
            }
            CompoundCommand::ArithmeticForClause(command) => {
                let parts = [&command.initializer, &command.condition, &command.updater];
                parts.into_iter().flatten().for_each(|part| self.arithmetic(part));
                self.again(|analysis| analysis.list(&command.body.list))
            }
            CompoundCommand::BraceGroup(command) => self.list(&command.list),
            CompoundCommand::Subshell(command) => self.apart(|analysis| analysis.list(&command.list)),
            CompoundCommand::ForClause(command) => {
                self.assigned(&command.variable_name, None);
                for value in command.values.iter().flatten() {
                    self.word(&value.value)?;
                }
                self.again(|analysis| analysis.list(&command.body.list))
            }
            CompoundCommand::CaseClause(command) => {
                self.word(&command.value.value)?;
                let mut unchanged = true;
                let before = self.current.clone();
                for case in &command.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value)?;
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list)?;
                        unchanged &= self.current == before;
                        if !unchanged {
                            self.current = Current::Unknown;
                        }
                    }
                }
                Ok(())
            }
            CompoundCommand::IfClause(command) => self.maybe(|analysis| {
                analysis.list(&command.condition)?;
                analysis.maybe(|analysis| analysis.list(&command.then))?;
                for part in command.elses.iter().flatten() {
                    if let Some(condition) = &part.condition {
                        analysis.maybe(|analysis| analysis.list(condition))?;
                    }
                    analysis.maybe(|analysis| analysis.list(&part.body))?;
                }
                Ok(())
            }),
            CompoundCommand::WhileClause(command) | CompoundCommand::UntilClause(command) => {
                self.again(|analysis| {
                    analysis.list(&command.0)?;
                    analysis.list(&command.1.list)
                })
            }
            CompoundCommand::Coprocess(command) => {
                if let Some(name) = &command.name {
                    self.assigned(&name.value, None);
                }
                self.apart(|analysis| analysis.command(&command.body))
            }
        }
    }

    pub(super) fn subshell(&mut self, command: &SubshellCommand) -> Read {
        self.list(&command.list)
    }

    fn arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) {
        if !is_constant(&expression.value) {
            self.opaque(format!("`(({}))` is arithmetic with variables", expression.value));
        }
    }

    fn function(&mut self, function: &FunctionDefinition) -> Read {
        let name = self.word(&function.fname.value)?;
        if !name.is_literal || self.is_command(&name.text) {
            self.opaque(format!("the function `{}` takes the place of a command", function.fname.value));
        }
        self.functions.insert(name.text);
        self.apart(|analysis| {
            analysis.again(|analysis| {
                analysis.redirects(function.body.1.as_ref())?;
                analysis.compound(&function.body.0)
            })
        })
    }

    /// `[[ … ]]`.
    fn test(&mut self, test: &ExtendedTestExpr) -> Read {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                if matches!(
                    predicate,
                    brush_parser::ast::UnaryPredicate::ShellVariableIsSetAndAssigned
                        | brush_parser::ast::UnaryPredicate::ShellVariableIsSetAndNameRef
                ) && word.value.contains(['[', '$', '`'])
                {
                    self.opaque(format!("`{}` may be an expression that is evaluated", word.value));
                }
                self.word(&word.value).map(drop)
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                use brush_parser::ast::BinaryPredicate as Is;
                let is_arithmetic = matches!(
                    predicate,
                    Is::ArithmeticEqualTo
                        | Is::ArithmeticNotEqualTo
                        | Is::ArithmeticLessThan
                        | Is::ArithmeticLessThanOrEqualTo
                        | Is::ArithmeticGreaterThan
                        | Is::ArithmeticGreaterThanOrEqualTo
                );
                self.word(&left.value)?;
                let is_regex = matches!(predicate, Is::StringMatchesRegex | Is::StringContainsSubstring);
                if is_regex && !right.value.contains(['$', '`', '\\', '\'', '"']) {
                    // Nothing expands in it; its parentheses are not those of words.
                } else {
                    self.word(&right.value)?;
                }
                for word in [left, right] {
                    if is_arithmetic && !is_constant(&word.value) {
                        self.opaque(format!("`{}` is arithmetic with variables", word.value));
                    }
                }
                Ok(())
            }
        }
    }

    pub(super) fn redirects(&mut self, redirects: Option<&RedirectList>) -> Read {
        redirects
            .into_iter()
            .flat_map(|list| &list.0)
            .try_for_each(|redirect| self.redirect(redirect).map(drop))
    }

    /// Reads a redirection, and says what it makes of the standard input.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) -> Result<StandardInput, Unreadable> {
        match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                self.file_redirect(kind, target)?;
                let is_input = matches!(
                    kind,
                    IoFileRedirectKind::Read
                        | IoFileRedirectKind::ReadAndWrite
                        | IoFileRedirectKind::DuplicateInput
                );
                let descriptor = descriptor.unwrap_or(i32::from(!is_input));
                Ok(StandardInput::of(Some(descriptor), StandardInput::Unknown))
            }
            IoRedirect::OutputAndError(target, _) => {
                let word = self.word(&target.value)?;
                self.redirect_to(&word);
                Ok(StandardInput::Same)
            }
            IoRedirect::HereDocument(descriptor, document) => {
                if !document.requires_expansion {
                    let text = StandardInput::Text(document.doc.value.clone());
                    return Ok(StandardInput::of(*descriptor, text));
                }
                let word = scan_document(&document.doc.value)?;
                if let Some(hazard) = word.hazard {
                    self.opaque(format!("a here-document has {hazard}"));
                }
                self.can_fail(word.failure);
                word.scripts.iter().try_for_each(|script| self.script_apart(script))?;
                Ok(StandardInput::of(*descriptor, word.is_literal.then_some(word.text).into()))
            }
            IoRedirect::HereString(descriptor, word) => {
                let word = self.word(&word.value)?;
                Ok(StandardInput::of(*descriptor, word.is_literal.then_some(word.text).into()))
            }
        }
    }

    fn file_redirect(&mut self, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget) -> Read {
        let word: Word = match target {
            IoFileRedirectTarget::Fd(_) => return Ok(()),
            IoFileRedirectTarget::ProcessSubstitution(_, command) => {
                return self.apart(|analysis| analysis.list(&command.list));
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                self.word(&word.value)?
            }
        };
        let number = word.text.strip_suffix('-').unwrap_or(&word.text);
        let is_number = word.is_literal && number.bytes().all(|byte| byte.is_ascii_digit());
        match kind {
            IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::DuplicateOutput if is_number => {}
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => self.redirect_from(&word),
            IoFileRedirectKind::ReadAndWrite => {
                self.redirect_from(&word);
                self.redirect_to(&word);
            }
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => self.redirect_to(&word),
        }
        Ok(())
    }
}
