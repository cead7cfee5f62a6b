import * as React from 'react';

type Props = { shape: Shape };

export const Canvas: React.FC<Props> = ({ shape }) => {
  const onClick = () => select(shape);
  return <Frame onClick={onClick}>{shape.name}</Frame>;
};

export default function Frame(props: React.PropsWithChildren) {
  return <div>{props.children}</div>;
}

class Legacy extends React.Component<Props> {
  render() {
    return <Canvas shape={this.props.shape} />;
  }
}
